"""The pages that raters see, as data without any word about systems."""
