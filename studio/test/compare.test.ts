import assert from "node:assert/strict";
import { test } from "node:test";
import { literalParts } from "../src/model/trace";

test("a literal has a name and objects, a comparison its number", () => {
  assert.deepEqual(literalParts("(on a b)"), { not: false, name: "on", rest: "a b" });
  assert.deepEqual(literalParts("(not (clear a))"), { not: true, name: "clear", rest: "a" });
  assert.deepEqual(literalParts("(= (level tank) 2.5)"), { not: false, name: "level tank", rest: "= 2.5" });
  assert.deepEqual(literalParts("(>= (level) 2)"), { not: false, name: ">=", rest: "(level) 2" });
  assert.deepEqual(literalParts(""), { not: false, name: "", rest: "" });
});
