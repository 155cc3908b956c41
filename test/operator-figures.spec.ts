import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { type JsonObject, isJsonObject } from '../src/common/json-object.js';

/** Words of what only operators may see: what work costs them, what is left, where it went. */
const OPERATOR_WORD = /cost|margin|provider|upstream|route/i;
/** Fields with such a word that callers have always seen: the charge, the provider's id of a request, bounds of pickers, neutral names of routes that they may order. */
const OF_CALLERS: ReadonlySet<string> = new Set([
  'ChatUsageView.cost',
  'ChatUsageView.cost_microusd',
  'EmbeddingsUsageView.cost',
  'EmbeddingsUsageView.cost_microusd',
  'MessageUsageView.cost_microusd',
  'ResponseUsageView.cost',
  'ResponseUsageView.cost_microusd',
  'VideoTaskView.cost',
  'ExecutionView.provider_request_id',
  'ModelView.top_provider',
  'ModelDetailView.routes',
  'header x-gateway-route',
  'ModelDetailView.top_provider',
]);

const document = JSON.parse(
  readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'),
) as JsonObject;

/** A field without the class that it is of. */
const nameOf = (field: string): string => field.slice(field.lastIndexOf('.') + 1);

/** What a reference names, such as `#/components/schemas/UsageView`. */
function referred(reference: string): unknown {
  const [, ...names] = reference.split('/');
  return names.reduce<unknown>((at, name) => (isJsonObject(at) ? at[name] : undefined), document);
}

const keysOf = (value: unknown): string[] => (isJsonObject(value) ? Object.keys(value) : []);

/** The names of fields, parameters and headers within a part of the document and all that it refers to. */
function* namesIn(part: unknown, owner: string, seen: Set<string>): Generator<string> {
  if (Array.isArray(part)) {
    for (const item of part as unknown[]) yield* namesIn(item, owner, seen);
  }
  if (!isJsonObject(part)) return;
  const { $ref: reference, properties, headers, name, in: place } = part;
  if (typeof reference === 'string' && !seen.has(reference)) {
    const own = reference.split('/').at(-1) ?? '';
    yield* namesIn(referred(reference), own, seen.add(reference));
  }
  if (typeof name === 'string' && typeof place === 'string') yield `${place} ${name}`;
  for (const field of keysOf(properties)) yield `${owner}.${field}`;
  for (const header of keysOf(headers)) yield `header ${header}`;
  for (const inner of Object.values(part)) yield* namesIn(inner, owner, seen);
}

describe('the part of the document that holders of keys see', () => {
  const paths = document.paths as JsonObject;
  const ofKeys = Object.entries(paths).filter(([path]) => path.startsWith('/v1/'));
  const seen = new Set<string>();
  const names = new Set(ofKeys.flatMap(([path, part]) => [...namesIn(part, path, seen)]));

  it('names no cost, margin, provider, upstream model or route', () => {
    expect(names.size).toBeGreaterThan(500);
    const told = [...names].filter(
      (name) => OPERATOR_WORD.test(nameOf(name)) && !OF_CALLERS.has(name),
    );
    expect(told).toEqual([]);
  });

  it('says of the charge, and of nothing else, that it is a cost', () => {
    const texts = ['ChatUsageView', 'VideoTaskView'].map((name) => {
      const schema = referred(`#/components/schemas/${name}`) as JsonObject;
      const { cost } = schema.properties as Readonly<Record<string, JsonObject>>;
      return cost?.description;
    });
    expect(texts).toEqual(['The settled charge in USD', 'USD charged; null until the end']);
  });

  it('is told apart from what operators see, where they are', () => {
    const usage = new Set(namesIn(paths['/admin/usage'], '', new Set()));
    expect(usage).toContain('AdminUsagePage.data');
    expect([...usage].filter((name) => OPERATOR_WORD.test(nameOf(name))).length).toBeGreaterThan(3);
  });
});
