"""The languages of submissions, a file each. ``registry`` registers them and looks them up."""
