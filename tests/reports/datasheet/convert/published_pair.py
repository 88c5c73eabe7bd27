"""Two published datasheets, of two repeats of one study (questions and answers, Yao et al. 2022).

Abridged: the ticks and the texts that the comparison reads, without names and addresses of people. From
SamsungLabs/ReproNLP2026, datacard.json at e10e9d9, and manhue/ReproNLP2026_0031-01,
HEDS/datacard-2026-04-24-16-13-16.json at 33d7538, both cards of the forms before HEDS 3.0.
"""

import json
from pathlib import Path

DESIGN = "heds-sample_evaluators_design"
CRITERION = "heds-criteria-criterion"

TICKED_BY_BOTH = (
    "heds-system-input_types-7",
    "heds-system-input_languages-41",
    "heds-system-output_languages-41",
    f"{DESIGN}-evaluators-evaluators-known_to_authors-1",
    f"{DESIGN}-evaluators-evaluators-are_authors-2",
    f"{DESIGN}-experimental_design-preregistered-2",
    f"{DESIGN}-experimental_design-quality_assurance-method-7",
    f"{DESIGN}-experimental_design-evaluator_freedom-3",
    f"{DESIGN}-experimental_design-experimental_conditions-1",
    f"{CRITERION}-criteria-quality_type-2",
    f"{CRITERION}-criteria-output_aspect-3",
    f"{CRITERION}-criteria-self_vs_external_frame-1",
    f"{CRITERION}-evaluation_mode-objective_or_subjective-2",
    f"{CRITERION}-evaluation_mode-absolute_or_relative-1",
    f"{CRITERION}-evaluation_mode-intrinsic_or_extrinsic-1",
    f"{CRITERION}-response_elicitation-size_of_scale-1",
    f"{CRITERION}-response_elicitation-form_of_response-2",
)
TICKED = {
    "Samsung": (
        "heds-system-output_types-9",
        "heds-system-tasks-11",
        "heds-system-tasks-12",
        f"{DESIGN}-sample-system_output_selection-5",
        f"{DESIGN}-evaluators-evaluators-expertise-1",
        f"{DESIGN}-evaluators-evaluators-payment-4",
        f"{DESIGN}-experimental_design-evaluator_freedom-5",
        f"{DESIGN}-experimental_design-evaluators_can_ask_questions-5",
        f"{CRITERION}-response_elicitation-scale_presented_as-5",
    ),
    "ZHAW": (
        "heds-system-output_types-6",
        "heds-system-tasks-17",
        f"{DESIGN}-sample-system_output_selection-2",
        f"{DESIGN}-evaluators-evaluators-expertise-2",
        f"{DESIGN}-evaluators-evaluators-payment-1",
        f"{DESIGN}-experimental_design-evaluators_can_ask_questions-2",
        f"{CRITERION}-response_elicitation-scale_presented_as-1",
    ),
}
TEXTS = {
    "Samsung": {
        "heds-system-output_types-other_text": "Question and answer pairs",
        f"{DESIGN}-sample-number_of_system_outputs": "361",
        f"{DESIGN}-sample-system_output_selection-other_text": "All provided outputs were included.",
        f"{DESIGN}-evaluators-number_of_evaluators": "5",
        f"{DESIGN}-evaluators-evaluators-payment-other_text": "Employees, during working hours.",
        f"{DESIGN}-evaluators-evaluators-description": "Researchers in NLP and linguistics, employees.",
        f"{DESIGN}-evaluators-recruitment_method": "Recruited among employees; participation was voluntary.",
        f"{DESIGN}-evaluators-training_practice": "Short instructions with the evaluation form.",
        f"{DESIGN}-evaluators-characteristics": "Non-native, but fluent, English speakers.",
        f"{DESIGN}-experimental_design-collection_method": "An Excel sheet for each evaluator.",
        f"{DESIGN}-experimental_design-quality_assurance-method-other_text": "No Method",
        f"{DESIGN}-experimental_design-quality_assurance-description": "N/A",
        f"{DESIGN}-experimental_design-what_evaluators_see-description": "Three columns filled, three blank.",
        f"{DESIGN}-experimental_design-evaluator_freedom-other_text": "No specific time constraints.",
        f"{DESIGN}-experimental_design-evaluators_can_ask_questions-other_text": "They were not told so.",
        f"{DESIGN}-experimental_design-evaluators_place_of_choosing": "On an Excel file during working time.",
        f"{CRITERION}-response_elicitation-participant_criterion_name": "Readability",
        f"{CRITERION}-response_elicitation-participant_criterion_definiiton": "grammatically correct, clear",
        f"{CRITERION}-response_elicitation-size_of_scale-other_text": "5",
        f"{CRITERION}-response_elicitation-list_or_range": "1(worst) to 5(best)",
        f"{CRITERION}-response_elicitation-scale_presented_as-other_text": "Empty Excel cell to be filled.",
        f"{CRITERION}-response_elicitation-task_description": "N/A",
        f"{CRITERION}-response_elicitation-verbatim_question": "whether they are grammatically correct",
        f"{CRITERION}-response_elicitation-response_aggregation": "Mean and standard deviation",
        f"{CRITERION}-response_elicitation-effect_size_method": "Mann-Whitney U test",
    },
    "ZHAW": {
        f"{DESIGN}-sample-number_of_system_outputs": "240\n\nground truth: 242 items\n- PAQ: 240 items",
        f"{DESIGN}-evaluators-number_of_evaluators": "5",
        f"{DESIGN}-evaluators-evaluators-description": "Four PhD students and one researcher.",
        f"{DESIGN}-evaluators-recruitment_method": "Emails to our own lab and other contacts.",
        f"{DESIGN}-evaluators-training_practice": "Written explanation in the email; no training.",
        f"{DESIGN}-evaluators-characteristics": "N/A",
        f"{DESIGN}-experimental_design-collection_method": "Excel sheet",
        f"{DESIGN}-experimental_design-quality_assurance-method-other_text": "No quality assurance",
        f"{DESIGN}-experimental_design-quality_assurance-description": "N/A",
        f"{DESIGN}-experimental_design-what_evaluators_see-description": "N/A",
        f"{DESIGN}-experimental_design-evaluator_freedom-other_text": "At each evaluator's own convenience.",
        f"{DESIGN}-experimental_design-evaluators_can_ask_questions-other_text": "They are shown an address.",
        f"{DESIGN}-experimental_design-evaluators_place_of_choosing": "N/A",
        f"{CRITERION}-response_elicitation-participant_criterion_name": "Readability",
        f"{CRITERION}-response_elicitation-participant_criterion_definiiton": "rate the readability of both",
        f"{CRITERION}-response_elicitation-size_of_scale-other_text": "5",
        f"{CRITERION}-response_elicitation-list_or_range": "1, 2, 3, 4, 5",
        f"{CRITERION}-response_elicitation-task_description": "N/A",
        f"{CRITERION}-response_elicitation-verbatim_question": "readability(grammarly correct)",
        f"{CRITERION}-response_elicitation-response_aggregation": "Macro averages of the numerical scores.",
        f"{CRITERION}-response_elicitation-effect_size_method": "t-test",
    },
}
CRITERIA = {"Samsung": ("Readability", "Question Relevance", "Answer Relevance"), "ZHAW": ("Readability",)}


def write_card(team: str, path: Path) -> Path:
    """Write a team's card as the forms export it."""
    answers: dict[str, bool | str] = dict.fromkeys((*TICKED_BY_BOTH, *TICKED[team]), True) | TEXTS[team]
    first = CRITERIA[team][0]
    card: dict[str, dict[str, object]] = {
        CRITERION: {"data": {}, "control": {name: name == first for name in CRITERIA[team]}, "text": {}}
    }
    for key, value in answers.items():
        names = CRITERIA[team] if key.startswith(CRITERION) else ("",)
        card[key] = {"data": dict.fromkeys(names, value), "control": {}}
        if value is True:
            card[key]["text"] = dict.fromkeys(names, key.rpartition("-")[2])
    path.write_text(json.dumps(card, indent=2), encoding="utf-8")
    return path
