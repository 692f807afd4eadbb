"""What Inductor names before autograd: each pass is a selection of what pieces become."""
