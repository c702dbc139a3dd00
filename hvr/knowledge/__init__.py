"""Ontology and knowledge graph: what there is in a kitchen, what it is good for, how it is now.

`hvr.knowledge.ontology` reads the ontology, `hvr.knowledge.wording` what things are called in
it, `hvr.knowledge.graph` keeps the graph of a scene and turns it into PDDL facts and problems.
"""
