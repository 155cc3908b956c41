import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { postJson } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { AT_ONCE } from '../../support/ttapi-client.js';
import { VideoHarness } from '../../support/video-harness.js';
import { type GatewayFromOutside, sharedGateway } from '../../support/shared-gateway.js';

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}
interface OpenApi {
  readonly paths: Readonly<Record<string, { readonly get: GetOperation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}
interface GetOperation {
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }>
  >;
}

const file = new URL('../../../openapi.json', import.meta.url);
const { paths, components } = JSON.parse(readFileSync(file, 'utf8')) as OpenApi;

let gateway: GatewayFromOutside;
let harness: VideoHarness;
/** Ids by their place in a path. */
let ids: Readonly<Record<string, string>>;

beforeAll(async () => {
  gateway = await sharedGateway();
  harness = await VideoHarness.open(gateway);
  const call = await postJson(`${gateway.url}/v1/audio/speech`, harness.account.headers, HELLO);
  const song = { model: 'song-music', prompt: AT_ONCE };
  const task = await postJson(
    `${gateway.url}/v1/music/generations`,
    { ...harness.account.headers, prefer: 'wait=30' },
    song,
  );
  ids = {
    SONG: (task.json as { id: string }).id,
    VIDEO: (await harness.made()).id,
    EXECUTION: call.headers.get('x-gateway-execution-id') ?? '',
  };
});
afterAll(() => gateway.stop());

/** The schema and those that it consists of. */
function partsOf(schema: Schema): Schema[] {
  const { $ref, allOf = [], oneOf = [] } = schema;
  const named = $ref && components.schemas[$ref.slice('#/components/schemas/'.length)];
  return [schema, ...(named ? partsOf(named) : []), ...[...allOf, ...oneOf].flatMap(partsOf)];
}

/**
 * Fields and words that the schema does not name, at any depth. An object without named fields may have any. Of
 * alternatives, that counts which names the most.
 */
function unknownFields(value: unknown, schema: Schema, path = ''): string[] {
  const [first, ...others] = schema.oneOf ?? [];
  if (first) {
    const least = unknownFields(value, first, path);
    return others.reduce((so, other) => {
      const unknown = unknownFields(value, other, path);
      return unknown.length < so.length ? unknown : so;
    }, least);
  }
  const parts = partsOf(schema);
  if (Array.isArray(value)) {
    const items = parts.find((part) => part.items)?.items ?? {};
    return value.flatMap((item, index) => unknownFields(item, items, `${path}.${index}`));
  }
  if (value === null) return [];
  if (typeof value !== 'object') {
    const isNamed = parts.every(({ enum: words }) => words?.includes(value) ?? true);
    return isNamed ? [] : [`${path}=${JSON.stringify(value)}`];
  }
  const named = new Map(parts.flatMap(({ properties = {} }) => Object.entries(properties)));
  if (named.size === 0) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const field = named.get(name);
    return field ? unknownFields(inner, field, `${path}.${name}`) : [`${path}.${name}`];
  });
}

it.each([
  ['/v1/account', ''],
  ['/v1/key', ''],
  ['/v1/models', ''],
  ['/v1/models/{id}', 'aud-v4'],
  ['/v1/voices', ''],
  ['/v1/usage', ''],
  ['/v1/executions', ''],
  ['/v1/executions/{id}', 'EXECUTION'],
  ['/v1/tasks', ''],
  ['/v1/tasks/{id}', 'SONG'],
  ['/v1/tasks/{id}', 'VIDEO'],
  ['/v1/tasks/{id}/deliveries', 'SONG'],
  ['/v1/videos/{id}', 'VIDEO'],
])(
  'the answer of %s %s has no field or word that the document does not name',
  async (path, name) => {
    const answer = await harness.get(path.slice('/v1/'.length).replace('{id}', ids[name] ?? name));
    expect(answer.status).toBe(200);
    const schema = paths[path]?.get.responses['200']?.content['application/json']?.schema;
    expect(schema && partsOf(schema).some(({ properties }) => properties)).toBe(true);
    expect(unknownFields(answer.json, schema ?? {})).toEqual([]);
  },
);
