; Parcels go by truck inside a city and by plane between airports.
(define (domain logistics)
  (:requirements :strips :typing)
  (:types
    truck plane - vehicle
    airport - place
    vehicle parcel place city - object)
  (:predicates
    (at ?vehicle - vehicle ?place - place)
    (lies-at ?parcel - parcel ?place - place)
    (inside ?parcel - parcel ?vehicle - vehicle)
    (part-of ?place - place ?city - city))
  (:action load
    :parameters (?parcel - parcel ?vehicle - vehicle ?place - place)
    :precondition (and (lies-at ?parcel ?place) (at ?vehicle ?place))
    :effect (and (inside ?parcel ?vehicle) (not (lies-at ?parcel ?place))))
  (:action unload
    :parameters (?parcel - parcel ?vehicle - vehicle ?place - place)
    :precondition (and (inside ?parcel ?vehicle) (at ?vehicle ?place))
    :effect (and (lies-at ?parcel ?place) (not (inside ?parcel ?vehicle))))
  (:action drive
    :parameters (?truck - truck ?from ?to - place ?city - city)
    :precondition (and (at ?truck ?from) (part-of ?from ?city) (part-of ?to ?city))
    :effect (and (at ?truck ?to) (not (at ?truck ?from))))
  (:action fly
    :parameters (?plane - plane ?from ?to - airport)
    :precondition (at ?plane ?from)
    :effect (and (at ?plane ?to) (not (at ?plane ?from)))))
