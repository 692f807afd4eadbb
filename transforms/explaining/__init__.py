"""Why a rewrite was applied or was not."""
