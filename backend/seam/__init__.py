"""What stands between PyTorch's compiler and the stages: the backend, dispatch, patches."""
