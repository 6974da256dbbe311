"""What slows a kernel down: a page for each cause, with a kernel before and after."""
