"""The knowledge of a scene: the ontology, the scene graph, and the knowledge graph that joins them.

The ontology (`ontology.py`) defines the classes, their affordances and their labels.
`KnowledgeGraph` (`graph.py`) holds the current state of one scene as RDF. From both, this package
derives PDDL facts and problems, answers to SPARQL queries, and the wording of facts and actions.

Begin with `graph.py`; `triples.py` shows how a `SceneGraph` becomes RDF. `retrieval/` chooses the
objects that a goal or a prompt needs, and `world_file.py` reads `world.toml`. `hvr.language` refers
to classes and predicates only by the roles in `ontology.py`.
"""
