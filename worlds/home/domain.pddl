; A home as a one-armed robot should find it: what each atomic action needs and does. It is the
; kitchen's domain (domains/kitchen) with the things of living rooms, bedrooms and bathrooms. Here
; some openable things are surfaces (a toilet with its lid), and only microwaves have to be closed
; to run: laptops are on when they are open.
(define (domain home)
  (:requirements :adl)

  (:types
    item liquid - object
    dish - item                       ; what can be carried with things on or in it
    ; AI2-THOR's object types, in lower case
    bowl box cup mug pan plate pot - dish
    aluminumfoil apple applesliced blinds book bottle bread breadsliced butterknife cabinet
    cellphone chair coffeemachine countertop creditcard curtains diningtable dishsponge
    drawer egg eggcracked faucet floor fork fridge garbagebag garbagecan houseplant kettle
    knife ladle lettuce lettucesliced lightswitch microwave mirror papertowelroll pen pencil
    peppershaker potato potatosliced safe saltshaker shelf shelvingunit sidetable sink
    sinkbasin soapbottle spatula spoon spraybottle statue stool stoveburner stoveknob
    toaster tomato tomatosliced vase window winebottle
    alarmclock armchair baseballbat basketball bathtub bathtubbasin bed boots candle cart cd
    cloth coffeetable desk desklamp desktop dogbed dresser dumbbell floorlamp footstool
    handtowel handtowelholder keychain laptop laundryhamper newspaper ottoman painting pillow
    plunger poster remotecontrol roomdecor scrubbrush showercurtain showerdoor showerglass
    showerhead soapbar sofa tabletopdecor teddybear television tennisracket tissuebox toilet
    toiletpaper toiletpaperhanger towel towelholder tvstand vacuumcleaner wateringcan watch - item)

  (:constants water coffee wine - liquid)

  (:predicates
    ; what a thing is good for; these never change
    (pickupable ?o - item)            ; fits the hand
    (surface ?r - item)               ; things are put on it
    (container ?r - item)             ; things are put in it
    (large ?r - item)                 ; too long to reach every part from one place
    (holds_one ?r - item)             ; takes one thing at a time
    (fits ?o ?r - item)               ; o may be placed on or in r
    (openable ?o - item)
    (toggleable ?o - item)
    (sliceable ?o - item)
    (crackable ?o - item)
    (cutting_tool ?o - item)
    (fillable ?o - item)
    (bottomless ?o - item)            ; pouring does not empty it: a bottle has many glasses
    (dirtyable ?o - item)
    (breakable ?o - item)
    (brews ?a - item)                 ; a coffee machine
    (heats ?a - item)                 ; makes hot what stands in or on it while it is on
    (cooks ?a ?o - item)              ; and cooks this
    (cools ?r - item)                 ; a fridge
    (knob_of ?k ?b - item)            ; the knob turns the burner on and off
    (faucet_of ?f ?b - item)          ; the faucet runs into the basin
    (beside ?a ?b - item)             ; whoever stands at a can also reach b
    (piece_of ?p ?o - item)           ; slicing or cracking o makes p
    ; what changes
    (near ?o - item)
    (hand_empty)
    (holding ?o - item)
    (present ?o - item)               ; false for pieces not yet made and for what was cut up
    (on ?o ?r - item)
    (in ?o ?r - item)
    (opened ?o - item)
    (toggled ?o - item)
    (sliced ?o - item)
    (cracked ?o - item)
    (cooked ?o - item)
    (hot ?o - item)
    (cold ?o - item)
    (dirty ?o - item)
    (filled ?o - item)
    (contains ?o - item ?l - liquid)
    ; what has happened to a thing; remembered, since it cannot be seen
    (washed ?o - item)                ; was in the basin while the faucet ran
    (microwaved ?o - item)            ; was in the microwave while it ran
    (stove_heated ?o - item)          ; was on a lit burner, or in a dish on one
    (toasted ?o - item)               ; was in the toaster while it ran
    (chilled ?o - item)               ; was in the fridge when it was closed
    (warm_liquid ?o - item))          ; what it is filled with was heated, or poured in hot

  ; Furniture stands in the open; other things must not be behind a closed door.
  (:action navigate_to_obj
    :parameters (?o - item)
    :precondition (and
      (present ?o)
      (or (not (pickupable ?o))
          (exists (?r - item)
            (and (or (on ?o ?r)
                     (and (in ?o ?r) (or (not (openable ?r)) (opened ?r))))
                 (not (pickupable ?r))))
          (exists (?d - dish ?r - item)
            (and (or (on ?o ?d)
                     (and (in ?o ?d) (or (not (openable ?d)) (opened ?d))))
                 (or (on ?d ?r)
                     (and (in ?d ?r) (or (not (openable ?r)) (opened ?r))))))))
    :effect (and
      (forall (?x - item) (not (near ?x)))
      (near ?o)
      (forall (?x - item) (when (beside ?o ?x) (near ?x)))))

  ; Within reach: at hand itself, or on or in something compact that is.
  (:action pick_up
    :parameters (?o - item)
    :precondition (and
      (pickupable ?o) (present ?o) (hand_empty)
      (or (near ?o)
          (exists (?r - item)
            (and (near ?r) (not (large ?r))
                 (or (on ?o ?r)
                     (and (in ?o ?r) (or (not (openable ?r)) (opened ?r))))))
          (exists (?d - dish ?r - item)
            (and (near ?r) (not (large ?r))
                 (or (on ?o ?d)
                     (and (in ?o ?d) (or (not (openable ?d)) (opened ?d))))
                 (or (on ?d ?r)
                     (and (in ?d ?r) (or (not (openable ?r)) (opened ?r))))))))
    :effect (and
      (holding ?o) (not (hand_empty))
      (forall (?r - item) (and (not (on ?o ?r)) (not (in ?o ?r))))))

  (:action put_on
    :parameters (?o ?r - item)
    :precondition (and
      (holding ?o) (surface ?r) (fits ?o ?r) (present ?r) (not (= ?o ?r))
      (or (near ?r)
          (exists (?q - item)
            (and (near ?q) (not (large ?q))
                 (or (on ?r ?q)
                     (and (in ?r ?q) (or (not (openable ?q)) (opened ?q)))))))
      (or (not (holds_one ?r)) (forall (?x - item) (not (on ?x ?r)))))
    :effect (and
      (on ?o ?r) (hand_empty) (not (holding ?o)) (near ?o)
      ; onto something in the cold
      (forall (?c - fridge)
        (when (in ?r ?c) (and (cold ?o) (not (hot ?o)) (not (warm_liquid ?o)))))
      (forall (?c - fridge ?x - item)
        (when (and (in ?r ?c) (or (on ?x ?o) (in ?x ?o)))
          (and (cold ?x) (not (hot ?x)) (not (warm_liquid ?x)))))
      ; onto something that is on
      (when (and (toggled ?r) (heats ?r)) (and (hot ?o) (not (cold ?o))))
      (forall (?x - item)
        (when (and (toggled ?r) (heats ?r) (or (on ?x ?o) (in ?x ?o)))
          (and (hot ?x) (not (cold ?x)))))
      (when (and (toggled ?r) (cooks ?r ?o)) (cooked ?o))
      (forall (?x - item)
        (when (and (toggled ?r) (cooks ?r ?x) (or (on ?x ?o) (in ?x ?o))) (cooked ?x)))
      (forall (?b - stoveburner) (when (and (= ?b ?r) (toggled ?b)) (stove_heated ?o)))
      (forall (?b - stoveburner ?x - item)
        (when (and (= ?b ?r) (toggled ?b) (or (on ?x ?o) (in ?x ?o))) (stove_heated ?x)))
      (when (and (toggled ?r) (heats ?r) (filled ?o)) (warm_liquid ?o))
      (forall (?t - toaster) (when (and (= ?t ?r) (toggled ?t)) (toasted ?o)))
      (when (and (toggled ?r) (brews ?r) (fillable ?o) (not (filled ?o)))
        (and (filled ?o) (contains ?o coffee) (warm_liquid ?o) (hot ?o) (not (cold ?o))))))

  (:action put_in
    :parameters (?o ?r - item)
    :precondition (and
      (holding ?o) (container ?r) (fits ?o ?r) (present ?r) (not (= ?o ?r))
      (or (not (openable ?r)) (opened ?r))
      (or (near ?r)
          (exists (?q - item)
            (and (near ?q) (not (large ?q))
                 (or (on ?r ?q)
                     (and (in ?r ?q) (or (not (openable ?q)) (opened ?q))))))))
    :effect (and
      (in ?o ?r) (hand_empty) (not (holding ?o)) (near ?o)
      ; into the cold
      (when (cools ?r) (and (cold ?o) (not (hot ?o)) (not (warm_liquid ?o))))
      (forall (?x - item)
        (when (and (cools ?r) (or (on ?x ?o) (in ?x ?o)))
          (and (cold ?x) (not (hot ?x)) (not (warm_liquid ?x)))))
      (forall (?c - fridge)
        (when (in ?r ?c) (and (cold ?o) (not (hot ?o)) (not (warm_liquid ?o)))))
      (forall (?c - fridge ?x - item)
        (when (and (in ?r ?c) (or (on ?x ?o) (in ?x ?o)))
          (and (cold ?x) (not (hot ?x)) (not (warm_liquid ?x)))))
      ; into a dish on a lit burner
      (forall (?b - stoveburner)
        (when (and (on ?r ?b) (toggled ?b)) (and (hot ?o) (not (cold ?o)) (stove_heated ?o))))
      (forall (?b - stoveburner)
        (when (and (on ?r ?b) (toggled ?b) (cooks ?b ?o)) (cooked ?o)))
      ; into a basin under a running faucet
      (forall (?f - faucet)
        (when (and (faucet_of ?f ?r) (toggled ?f)) (and (washed ?o) (not (dirty ?o)))))
      (forall (?f - faucet ?x - item)
        (when (and (faucet_of ?f ?r) (toggled ?f) (or (on ?x ?o) (in ?x ?o)))
          (and (washed ?x) (not (dirty ?x)))))
      (forall (?f - faucet)
        (when (and (faucet_of ?f ?r) (toggled ?f) (fillable ?o) (not (filled ?o)))
          (and (filled ?o) (contains ?o water))))))

  (:action open_obj
    :parameters (?o - item)
    :precondition (and
      (openable ?o) (present ?o) (hand_empty) (not (opened ?o)) (near ?o)
      (forall (?m - microwave) (or (not (= ?m ?o)) (not (toggled ?m)))))
    :effect (opened ?o))

  (:action close_obj
    :parameters (?o - item)
    :precondition (and
      (openable ?o) (present ?o) (hand_empty) (opened ?o) (near ?o))
    :effect (and
      (not (opened ?o))
      (forall (?x - item) (when (in ?x ?o) (not (near ?x))))
      (forall (?x - item ?d - dish)
        (when (and (in ?d ?o) (or (on ?x ?d) (in ?x ?d))) (not (near ?x))))
      (forall (?x - item) (when (and (cools ?o) (in ?x ?o)) (chilled ?x)))
      (forall (?x - item ?d - dish)
        (when (and (cools ?o) (in ?d ?o) (or (on ?x ?d) (in ?x ?d))) (chilled ?x)))))

  ; A burner is switched by its knob, and either may be named.
  (:action toggle_on
    :parameters (?o - item)
    :precondition (and
      (or (toggleable ?o) (exists (?k - stoveknob) (knob_of ?k ?o)))
      (near ?o) (not (toggled ?o))
      (forall (?m - microwave) (or (not (= ?m ?o)) (not (opened ?m)))))
    :effect (and
      (toggled ?o)
      (forall (?b - item) (when (or (knob_of ?o ?b) (knob_of ?b ?o)) (toggled ?b)))
      ; a burner heats and cooks what stands on it and what is in that
      (forall (?b - stoveburner ?x - item)
        (when (and (or (= ?b ?o) (knob_of ?o ?b)) (on ?x ?b))
          (and (hot ?x) (not (cold ?x)) (stove_heated ?x))))
      (forall (?b - stoveburner ?d - dish ?x - item)
        (when (and (or (= ?b ?o) (knob_of ?o ?b)) (on ?d ?b) (or (on ?x ?d) (in ?x ?d)))
          (and (hot ?x) (not (cold ?x)) (stove_heated ?x))))
      (forall (?b - stoveburner ?d - dish ?x - item)
        (when (and (or (= ?b ?o) (knob_of ?o ?b)) (cooks ?b ?x)
                   (on ?d ?b) (or (on ?x ?d) (in ?x ?d)))
          (cooked ?x)))
      (forall (?b - stoveburner ?x - item)
        (when (and (or (= ?b ?o) (knob_of ?o ?b)) (on ?x ?b) (filled ?x)) (warm_liquid ?x)))
      ; a microwave likewise
      (forall (?m - microwave ?x - item)
        (when (and (= ?m ?o) (in ?x ?m)) (and (hot ?x) (not (cold ?x)) (microwaved ?x))))
      (forall (?m - microwave ?x - item)
        (when (and (= ?m ?o) (cooks ?m ?x) (in ?x ?m)) (cooked ?x)))
      (forall (?m - microwave ?d - dish ?x - item)
        (when (and (= ?m ?o) (in ?d ?m) (or (on ?x ?d) (in ?x ?d)))
          (and (hot ?x) (not (cold ?x)) (microwaved ?x))))
      (forall (?m - microwave ?d - dish ?x - item)
        (when (and (= ?m ?o) (cooks ?m ?x) (in ?d ?m) (or (on ?x ?d) (in ?x ?d))) (cooked ?x)))
      (forall (?m - microwave ?x - item)
        (when (and (= ?m ?o) (in ?x ?m) (filled ?x)) (warm_liquid ?x)))
      (forall (?m - microwave ?d - dish ?x - item)
        (when (and (= ?m ?o) (in ?d ?m) (on ?x ?d) (filled ?x)) (warm_liquid ?x)))
      (forall (?t - toaster ?x - item)
        (when (and (= ?t ?o) (on ?x ?t)) (and (hot ?x) (not (cold ?x)) (toasted ?x))))
      (forall (?t - toaster ?x - item)
        (when (and (= ?t ?o) (cooks ?t ?x) (on ?x ?t)) (cooked ?x)))
      (forall (?x - item)
        (when (and (brews ?o) (on ?x ?o) (fillable ?x) (not (filled ?x)))
          (and (filled ?x) (contains ?x coffee) (warm_liquid ?x) (hot ?x) (not (cold ?x)))))
      ; a faucet washes and fills
      (forall (?b - sinkbasin ?x - item)
        (when (and (faucet_of ?o ?b) (in ?x ?b)) (and (washed ?x) (not (dirty ?x)))))
      (forall (?b - sinkbasin ?x - item)
        (when (and (faucet_of ?o ?b) (in ?x ?b) (fillable ?x) (not (filled ?x)))
          (and (filled ?x) (contains ?x water))))
      (forall (?b - sinkbasin ?d - dish ?x - item)
        (when (and (faucet_of ?o ?b) (in ?d ?b) (or (on ?x ?d) (in ?x ?d)))
          (and (washed ?x) (not (dirty ?x)))))))

  (:action toggle_off
    :parameters (?o - item)
    :precondition (and
      (or (toggleable ?o) (exists (?k - stoveknob) (knob_of ?k ?o)))
      (near ?o) (toggled ?o))
    :effect (and
      (not (toggled ?o))
      (forall (?b - item) (when (or (knob_of ?o ?b) (knob_of ?b ?o)) (not (toggled ?b))))))

  ; Things are cut where they lie firmly, not in a dish that can slide.
  (:action slice_obj
    :parameters (?o - item)
    :precondition (and
      (sliceable ?o) (present ?o)
      (exists (?k - item) (and (cutting_tool ?k) (holding ?k)))
      (exists (?r - item)
        (and (not (pickupable ?r))
             (or (on ?o ?r) (and (in ?o ?r) (or (not (openable ?r)) (opened ?r))))
             (or (near ?o) (and (near ?r) (not (large ?r)))))))
    :effect (and
      (sliced ?o) (not (present ?o)) (not (near ?o))
      (forall (?r - item) (and (not (on ?o ?r)) (not (in ?o ?r))))
      (forall (?p - item) (when (piece_of ?p ?o) (and (present ?p) (near ?p))))
      (forall (?p ?r - item) (when (and (piece_of ?p ?o) (on ?o ?r)) (on ?p ?r)))
      (forall (?p ?r - item) (when (and (piece_of ?p ?o) (in ?o ?r)) (in ?p ?r)))
      (forall (?p - item) (when (and (piece_of ?p ?o) (cooked ?o)) (cooked ?p)))
      (forall (?p - item) (when (and (piece_of ?p ?o) (hot ?o)) (hot ?p)))
      (forall (?p - item) (when (and (piece_of ?p ?o) (cold ?o)) (cold ?p)))))

  ; An egg is cracked in the hand, or by the free hand in the dish it lies in.
  (:action crack_obj
    :parameters (?o - item)
    :precondition (and
      (crackable ?o) (present ?o)
      (or (holding ?o)
          (and (hand_empty)
               (exists (?d - dish)
                 (and (or (on ?o ?d) (in ?o ?d)) (or (near ?o) (near ?d)))))))
    :effect (and
      (cracked ?o) (not (present ?o)) (not (near ?o)) (not (holding ?o))
      (forall (?r - item) (and (not (on ?o ?r)) (not (in ?o ?r))))
      (forall (?p - item) (when (piece_of ?p ?o) (and (present ?p) (near ?p))))
      (forall (?p - item) (when (and (piece_of ?p ?o) (holding ?o)) (holding ?p)))
      (forall (?p - item) (when (and (piece_of ?p ?o) (hot ?o)) (hot ?p)))
      (forall (?p - item) (when (and (piece_of ?p ?o) (cold ?o)) (cold ?p)))
      (forall (?p ?r - item) (when (and (piece_of ?p ?o) (on ?o ?r)) (on ?p ?r)))
      (forall (?p ?r - item) (when (and (piece_of ?p ?o) (in ?o ?r)) (in ?p ?r)))))

  ; Into something empty that can be filled, or away into a basin.
  (:action pour
    :parameters (?o ?to - item)
    :precondition (and
      (holding ?o) (filled ?o) (present ?to) (not (= ?o ?to))
      (or (and (fillable ?to) (not (filled ?to)))
          (exists (?f - faucet) (faucet_of ?f ?to)))
      (or (near ?to)
          (exists (?r - item)
            (and (near ?r) (not (large ?r))
                 (or (on ?to ?r)
                     (and (in ?to ?r) (or (not (openable ?r)) (opened ?r))))))))
    :effect (and
      (when (fillable ?to) (filled ?to))
      (forall (?l - liquid)
        (when (and (fillable ?to) (contains ?o ?l)) (contains ?to ?l)))
      (when (and (fillable ?to) (contains ?o coffee)) (and (hot ?to) (not (cold ?to))))
      (when (and (fillable ?to) (warm_liquid ?o)) (warm_liquid ?to))
      (when (not (bottomless ?o)) (and (not (filled ?o)) (not (warm_liquid ?o))))
      (forall (?l - liquid) (when (not (bottomless ?o)) (not (contains ?o ?l))))))

  (:action drop_obj
    :parameters (?o - item)
    :precondition (and
      (holding ?o) (not (breakable ?o)) (exists (?f - floor) (present ?f)))
    :effect (and
      (hand_empty) (not (holding ?o)) (near ?o)
      (forall (?f - floor) (on ?o ?f))))

  (:action throw_away
    :parameters (?o - item ?can - garbagecan)
    :precondition (and (holding ?o) (fits ?o ?can) (near ?can))
    :effect (and (in ?o ?can) (hand_empty) (not (holding ?o)) (near ?o))))
