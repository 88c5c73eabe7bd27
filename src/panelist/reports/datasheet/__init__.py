"""The Human Evaluation Datasheet (HEDS): filled from a study, read, checked, converted, compared, written.

HEDS says "evaluator" where we say rater; only this folder translates.
"""
