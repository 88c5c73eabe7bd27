"""From study.yaml to a study: values with their lines, problems in words."""
