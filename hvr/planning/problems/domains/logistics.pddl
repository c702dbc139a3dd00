; Trucks drive within a city, planes fly between airports.
(define (domain logistics)
  (:requirements :strips :typing)
  (:types truck plane - vehicle airport - place parcel city)
  (:predicates
    (at ?v - vehicle ?p - place) (lies-at ?x - parcel ?p - place)
    (inside ?x - parcel ?v - vehicle) (part-of ?p - place ?c - city))
  (:action load
    :parameters (?x - parcel ?v - vehicle ?p - place)
    :precondition (and (lies-at ?x ?p) (at ?v ?p))
    :effect (and (inside ?x ?v) (not (lies-at ?x ?p))))
  (:action unload
    :parameters (?x - parcel ?v - vehicle ?p - place)
    :precondition (and (inside ?x ?v) (at ?v ?p))
    :effect (and (lies-at ?x ?p) (not (inside ?x ?v))))
  (:action drive
    :parameters (?t - truck ?from ?to - place ?c - city)
    :precondition (and (at ?t ?from) (part-of ?from ?c) (part-of ?to ?c))
    :effect (and (at ?t ?to) (not (at ?t ?from))))
  (:action fly
    :parameters (?a - plane ?from ?to - airport)
    :precondition (at ?a ?from)
    :effect (and (at ?a ?to) (not (at ?a ?from)))))
