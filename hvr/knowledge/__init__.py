"""The knowledge of a scene: the ontology, the scene graph, and the knowledge graph that joins them.

The ontology (`ontology.py`) holds the classes, their affordances and their labels.
`KnowledgeGraph` (`graph.py`) holds the current state of one scene as RDF. This room provides
PDDL facts and problems, answers to SPARQL queries, and the wording of facts and actions.

Begin with `graph.py`; `triples.py` shows how a `SceneGraph` becomes RDF. `retrieval/` chooses the
objects that a goal or a prompt needs. `world_file.py` reads `world.toml`. Roles in
`ontology.py` let `hvr.language` name no class and no predicate.
"""
