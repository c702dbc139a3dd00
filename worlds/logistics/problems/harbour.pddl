; Two cities, a truck in each and a plane between them.
(define (problem harbour)
  (:domain logistics)
  (:objects hamburg munich - city
            airport1 airport2 - airport
            harbour depot market - place
            truck1 truck2 - truck
            plane1 - plane
            parcel1 parcel2 - parcel)
  (:init (part-of airport1 hamburg) (part-of harbour hamburg) (part-of depot hamburg)
         (part-of airport2 munich) (part-of market munich)
         (at truck1 depot) (at truck2 airport2) (at plane1 airport1)
         (lies-at parcel1 market) (lies-at parcel2 depot))
  (:goal (and (lies-at parcel1 harbour) (lies-at parcel2 market))))
