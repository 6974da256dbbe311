"""The API's endpoints for operators, by resource."""
