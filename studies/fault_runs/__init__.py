"""Inject every fault at every step of a plan; measure detection and recovery."""

from studies.fault_runs.baseline import Baseline, Lab
from studies.fault_runs.cases import Case, cases
from studies.fault_runs.runs import Row, Senses, run_case, run_free

__all__ = ["Baseline", "Case", "Lab", "Row", "Senses", "cases", "run_case", "run_free"]
