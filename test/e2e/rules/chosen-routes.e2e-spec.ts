import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { postJson, send } from '../../support/http-answer.js';
import { StubUpstream } from '../../support/stub-upstream.js';

const PRICE = {
  unit: 'token',
  input_micro_usd_per_million: 1_000_000,
  output_micro_usd_per_million: 1_000_000,
};
const COMPLETION = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'any',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 100, total_tokens: 200 },
};
const NAMES = ['one', 'two', 'three'] as const;
type Name = (typeof NAMES)[number];

let upstreams: Record<Name, StubUpstream>;
let gateway: TestGateway;
let headers: Record<string, string>;
/** The providers that were asked, in their order. */
const asked: Name[] = [];

const cost = (input: number, output: number) => ({
  unit: 'token',
  input_micro_usd_per_million: input,
  output_micro_usd_per_million: output,
});

function overlay(): object {
  const routes = NAMES.map((name) => ({ provider: name, upstream_model: `model-${name}` }));
  const chat = { operation: 'chat', price: PRICE, limits: { max_output_tokens: 8_000 } };
  const [one, two, three] = routes;
  return {
    providers: NAMES.map((id) => ({
      id,
      protocol: 'openai',
      base_url: `${upstreams[id].url}/v1`,
      api_key_env: '',
    })),
    models: [
      { ...chat, id: 'gen-routable', routable: true, routes },
      {
        ...chat,
        id: 'gen-weighted',
        routable: true,
        routes: [
          { ...one, weight: 1_000 },
          { ...two, weight: 1 },
        ],
      },
      { ...chat, id: 'gen-fixed', routes },
      {
        ...chat,
        id: 'gen-cheapest',
        routable: true,
        route_order: 'cheapest',
        routes: [
          // Long prompts are cheap at the second, long answers at the third.
          { ...one, cost: cost(900_000, 900_000) },
          { ...two, cost: cost(10_000, 800_000) },
          { ...three, cost: cost(700_000, 10_000) },
        ],
      },
      {
        ...chat,
        id: 'gen-twice',
        routable: true,
        routes: [one, { ...one, upstream_protocol: 'responses' }, two],
      },
      {
        id: 'embed-cheapest',
        operation: 'embeddings',
        route_order: 'cheapest',
        price: { unit: 'token', input_micro_usd_per_million: 1_000_000 },
        limits: {},
        routes: [
          { ...one, cost: { unit: 'token', input_micro_usd_per_million: 900_000 } },
          { ...two, cost: { unit: 'token', input_micro_usd_per_million: 100 } },
        ],
      },
      {
        id: 'voice-cheapest',
        operation: 'speech',
        route_order: 'cheapest',
        voices: { Ann: 'ann' },
        price: { unit: 'code_point', micro_usd: 100 },
        limits: { max_input: 1_000 },
        routes: [
          { ...one, cost: { unit: 'code_point', micro_usd: 30 } },
          { ...two, cost: { unit: 'code_point', micro_usd: 20 } },
        ],
      },
    ],
  };
}

beforeAll(async () => {
  const started = await Promise.all(NAMES.map(() => StubUpstream.start()));
  upstreams = Object.fromEntries(NAMES.map((name, index) => [name, started[index]!])) as Record<
    Name,
    StubUpstream
  >;
  const file = join(mkdtempSync(join(tmpdir(), 'shim-catalog-')), 'catalog.json');
  writeFileSync(file, JSON.stringify(overlay()));
  gateway = await startTestGateway({ SANDBOX: 'off', CATALOG_FILE: file });
  ({ headers } = await gateway.account());
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await Promise.all(NAMES.map((name) => upstreams[name].stop()));
});
beforeEach(() => {
  asked.length = 0;
  for (const name of NAMES) {
    upstreams[name].reply = (response) => {
      asked.push(name);
      response.end(JSON.stringify(COMPLETION));
    };
  }
});

const chat = (model: string, route?: string, body: object = {}) =>
  postJson(
    `${gateway.url}/v1/chat/completions`,
    { ...headers, ...(route !== undefined && { 'x-gateway-route': route }) },
    { model, messages: [{ role: 'user', content: 'Hello' }], ...body },
  );

/** As a server that is full: the next route is tried. */
function busy(name: Name): void {
  upstreams[name].reply = (response) => {
    asked.push(name);
    response.writeHead(503).end('{}');
  };
}

describe('x-gateway-route', () => {
  it.each<[string | undefined, Name]>([
    [undefined, 'one'],
    ['order=route-2', 'two'],
    ['order=route-3,route-1', 'three'],
    ['exclude=route-1', 'two'],
    ['order=route-3; exclude=route-1', 'three'],
    [' exclude = route-2 ; order = route-3 ', 'three'],
  ])('%s begins at the provider that it says: %s', async (route, first) => {
    expect(await chat('gen-routable', route)).toMatchObject({ status: 200 });
    expect(asked).toEqual([first]);
  });

  it('tries the named routes in their order, then the rest, and never an excluded one', async () => {
    busy('three');
    busy('one');
    expect(await chat('gen-routable', 'order=route-3,route-1')).toMatchObject({ status: 200 });
    expect(asked).toEqual(['three', 'one', 'two']);
    asked.length = 0;
    expect((await chat('gen-routable', 'order=route-3,route-1; exclude=route-2')).status).toBe(503);
    expect(asked).toEqual(['three', 'one']);
  });

  it('knows routes of one model at one provider apart', async () => {
    expect((await chat('gen-twice', 'exclude=route-1,route-2')).status).toBe(200);
    expect(asked).toEqual(['two']);
    await chat('gen-twice', 'exclude=route-1');
    expect(upstreams.one.seen.at(-1)?.url).toBe('/v1/responses');
  });

  it('comes before the weights of the routes', async () => {
    for (let call = 0; call < 5; call += 1) await chat('gen-weighted', 'order=route-2');
    expect(asked).toEqual(['two', 'two', 'two', 'two', 'two']);
  });

  it.each([
    ['gen-fixed', 'order=route-1', 'x-gateway-route is not taken by this model.'],
    ['gen-routable', 'order=route-4', 'x-gateway-route names route-4, and the model has 3.'],
    ['gen-routable', 'order=route-1,route-1', 'x-gateway-route names a route twice.'],
    ['gen-routable', 'order=route-1; exclude=route-1', 'x-gateway-route names a route twice.'],
    [
      'gen-routable',
      'exclude=route-1,route-2,route-3',
      'x-gateway-route leaves no route that can run.',
    ],
    ...[
      '',
      'route-2',
      'order=',
      'order=one',
      'only=route-1',
      'order=route-1;order=route-2',
      'order=route-0',
    ].map((text) => [
      'gen-routable',
      text,
      'x-gateway-route must be like `order=route-2,route-1; exclude=route-3`.',
    ]),
  ])('is refused before any hold: %s with %p', async (model, route, message) => {
    const answer = await chat(model, route);
    expect(answer).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid_request', param: 'x-gateway-route', message } },
    });
    expect(asked).toEqual([]);
  });

  it('is told by neutral names on the model, where callers may choose', async () => {
    const read = async (id: string) =>
      (await send(`${gateway.url}/v1/models/${id}`, { headers })).json as { routes?: string[] };
    expect((await read('gen-routable')).routes).toEqual(['route-1', 'route-2', 'route-3']);
    expect(await read('gen-fixed')).not.toHaveProperty('routes');
  });
});

describe('route_order cheapest', () => {
  it('asks the provider first where the prompt and a usual answer cost least', async () => {
    await chat('gen-cheapest', undefined, {
      messages: [{ role: 'user', content: 'word '.repeat(20_000) }],
      max_tokens: 10,
    });
    await chat('gen-cheapest');
    expect(asked).toEqual(['two', 'three']);
  });

  it('goes on to the next cheapest one', async () => {
    busy('three');
    await chat('gen-cheapest');
    expect(asked).toEqual(['three', 'two']);
  });

  it("gives way to the caller's own order", async () => {
    await chat('gen-cheapest', 'order=route-1');
    expect(asked).toEqual(['one']);
  });

  it('holds for embeddings', async () => {
    const body = { model: 'embed-cheapest', input: 'Hello' };
    await postJson(`${gateway.url}/v1/embeddings`, headers, body);
    expect(asked[0]).toBe('two');
  });

  it('holds for work that is priced by its text', async () => {
    upstreams.two.reply = (response) => {
      asked.push('two');
      response.setHeader('content-type', 'audio/mpeg').end(Buffer.from('fff340c0', 'hex'));
    };
    await postJson(`${gateway.url}/v1/audio/speech`, headers, {
      model: 'voice-cheapest',
      input: 'Hello',
      voice: 'Ann',
    });
    expect(asked[0]).toBe('two');
  });
});
