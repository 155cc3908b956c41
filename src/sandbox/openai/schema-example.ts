import { asArray, asRecord, type JsonRecord } from '../http/json.js';

const MAX_DEPTH = 8;

/** A value that fits a JSON schema. Every property has a value; texts use the topic. */
export function exampleOf(schema: unknown, topic: string, depth = 0): unknown {
  const rules = asRecord(schema) ?? {};
  const [choice] = asArray(rules.enum) ?? [];
  const type = asArray(rules.type)?.[0] ?? rules.type;
  if (choice !== undefined) return choice;
  const number = rules.minimum ?? 1;
  const simple = new Map<unknown, unknown>([
    ['string', topic],
    ['number', number],
    ['integer', number],
    ['boolean', true],
  ]);
  if (simple.has(type)) return simple.get(type);
  return depth < MAX_DEPTH ? nestedExample(rules, topic, depth + 1) : null;
}

function nestedExample(rules: JsonRecord, topic: string, depth: number): unknown {
  if (rules.items !== undefined) return [exampleOf(rules.items, topic, depth)];
  return Object.fromEntries(
    Object.entries(asRecord(rules.properties) ?? {}).map(([name, property]) => [
      name,
      exampleOf(property, topic, depth),
    ]),
  );
}
