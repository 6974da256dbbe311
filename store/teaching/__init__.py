"""Classes, contests, grades, goals and solutions."""
