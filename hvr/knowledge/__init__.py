"""What hvr knows of a scene: the ontology, the scene graph, and the knowledge graph made of both.

The ontology (`ontology.py`) says which classes there are, what they are good for and what they are
called. `KnowledgeGraph` (`graph.py`) holds the present state of one scene as RDF. This room hands
on PDDL facts and problems, answers to SPARQL queries, and the wording of facts and actions.

Begin with `graph.py`; `triples.py` shows how a `SceneGraph` becomes RDF. `retrieval/` chooses the
objects that a goal or a prompt needs. `world_file.py` reads `world.toml`. `roles.py` lists what
`hvr.language` may ask of an ontology, so that the grammar names no class and no predicate.
"""
