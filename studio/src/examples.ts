/** Three examples for a folder that is empty, and for those who come for the first time. */

import type { Texts } from "./api";
import type { DrawingRules } from "./model/drawing";

export interface Example {
  id: string;
  name: string;
  about: string;
  texts: Texts;
  drawing?: DrawingRules;
}

const BLOCKS = `(define (domain blocks)
  (:requirements :strips)
  (:predicates (on ?x ?y) (on-table ?x) (clear ?x) (holding ?x) (hand-empty))
  (:action pick-up
    :parameters (?x)
    :precondition (and (clear ?x) (on-table ?x) (hand-empty))
    :effect (and (holding ?x) (not (on-table ?x)) (not (clear ?x)) (not (hand-empty))))
  (:action put-down
    :parameters (?x)
    :precondition (holding ?x)
    :effect (and (on-table ?x) (clear ?x) (hand-empty) (not (holding ?x))))
  (:action stack
    :parameters (?x ?y)
    :precondition (and (holding ?x) (clear ?y))
    :effect (and (on ?x ?y) (clear ?x) (hand-empty) (not (holding ?x)) (not (clear ?y))))
  (:action unstack
    :parameters (?x ?y)
    :precondition (and (on ?x ?y) (clear ?x) (hand-empty))
    :effect (and (holding ?x) (clear ?y) (not (on ?x ?y)) (not (clear ?x)) (not (hand-empty)))))
`;

const TOWER = `(define (problem tower)
  (:domain blocks)
  (:objects a b c)
  (:init (on-table a) (on-table b) (on c a) (clear c) (clear b) (hand-empty))
  (:goal (and (on a b) (on b c))))
`;

const DELIVERY = `(define (domain delivery)
  (:requirements :strips :typing :durative-actions)
  (:types place parcel van)
  (:predicates (at ?v - van ?p - place) (lies ?b - parcel ?p - place) (in ?b - parcel ?v - van)
               (road ?from ?to - place) (idle ?v - van))
  (:durative-action drive
    :parameters (?v - van ?from ?to - place)
    :duration (= ?duration 10)
    :condition (and (at start (at ?v ?from)) (at start (idle ?v)) (over all (road ?from ?to)))
    :effect (and (at start (not (at ?v ?from))) (at start (not (idle ?v)))
                 (at end (at ?v ?to)) (at end (idle ?v))))
  (:durative-action load
    :parameters (?b - parcel ?v - van ?p - place)
    :duration (= ?duration 2)
    :condition (and (at start (lies ?b ?p)) (over all (at ?v ?p)))
    :effect (and (at start (not (lies ?b ?p))) (at end (in ?b ?v))))
  (:durative-action unload
    :parameters (?b - parcel ?v - van ?p - place)
    :duration (= ?duration 2)
    :condition (and (at start (in ?b ?v)) (over all (at ?v ?p)))
    :effect (and (at start (not (in ?b ?v))) (at end (lies ?b ?p)))))
`;

const TOWN = `(define (problem town)
  (:domain delivery)
  (:objects red blue - van book lamp - parcel depot north south - place)
  (:init (at red depot) (at blue depot) (idle red) (idle blue)
         (lies book depot) (lies lamp depot)
         (road depot north) (road north depot) (road depot south) (road south depot))
  (:goal (and (lies book north) (lies lamp south))))
`;

const LIGHTS = `(define (domain lights)
  (:requirements :strips)
  (:predicates (bright ?room) (dark ?room) (linked ?a ?b) (here ?room) (charged) (used))
  (:action walk
    :parameters (?from ?to)
    :precondition (and (here ?from) (linked ?from ?to))
    :effect (and (here ?to) (not (here ?from))))
  (:action switch-on
    :parameters (?room)
    :precondition (and (here ?room) (dark ?room) (charged))
    :effect (and (bright ?room) (not (dark ?room)))))
`;

const FLAT = `(define (problem flat)
  (:domain lights)
  (:objects hall kitchen bath)
  (:init (here hall) (dark kitchen) (dark bath) (charged)
         (linked hall kitchen) (linked kitchen hall) (linked hall bath) (linked bath hall))
  (:goal (and (bright kitchen) (bright bath) (here hall))))
`;

const TOWERS: DrawingRules = {
  things: ["hand"],
  rules: [
    { fact: ["on", "?x", "?y"], types: [], verb: "above", terms: ["?x", "?y"] },
    { fact: ["holding", "?x"], types: [], verb: "inside", terms: ["?x", "hand"] },
  ],
};

export const EXAMPLES: Example[] = [
  {
    id: "blocks",
    name: "A tower that falls short",
    about: "A plan of blocks whose third step fails. See why, and let hvr repair it.",
    texts: {
      domain: BLOCKS,
      problem: TOWER,
      plan: "(unstack c a)\n(put-down c)\n(stack b c)\n(pick-up a)\n(stack a b)\n",
    },
    drawing: TOWERS,
  },
  {
    id: "delivery",
    name: "Two vans at once",
    about: "A plan with durations: two vans deliver at the same time. See it as a chart over time.",
    texts: {
      domain: DELIVERY,
      problem: TOWN,
      plan: `0.000: (load book red depot) [2]
0.000: (load lamp blue depot) [2]
2.001: (drive red depot north) [10]
2.001: (drive blue depot south) [10]
12.002: (unload book red north) [2]
12.002: (unload lamp blue south) [2]
`,
    },
  },
  {
    id: "lights",
    name: "Light in every room",
    about: "An empty plan and a model with a slip: write the plan yourself, or let hvr find it.",
    texts: { domain: LIGHTS, problem: FLAT, plan: "" },
  },
];
