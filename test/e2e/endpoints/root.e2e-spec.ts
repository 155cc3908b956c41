import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({ ELEVENLABS_API_KEY: 'a-key', SANDBOX: 'off' });
});
afterAll(() => gateway.stop());

describe('GET /', () => {
  it('leads a browser to the page', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const answer = await fetch(`${gateway.url}/`, { headers, redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/docs']);
  });

  it.each(['*/*', 'application/json'])('lists the paths for a program: %s', async (accept) => {
    const answer = await fetch(`${gateway.url}/`, { headers: { accept } });
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { name: 'Shim', docs: '/docs', openapi: '/openapi.json', api: '/v1' },
    ]);
  });
});

describe('a gateway below a path', () => {
  it('names that path in each Location and in its list of paths', async () => {
    const below = await startTestGateway({ PUBLIC_URL: 'https://gw.example/shim/' });
    const { headers } = await below.account();
    const html = { headers: { accept: 'text/html' }, redirect: 'manual' } as const;
    const page = await fetch(`${below.url}/`, html);
    const paths = (await (await fetch(`${below.url}/`)).json()) as { api: string };
    const submitted = await Promise.all(
      [
        ['/v1/videos', { model: 'vid-motion', prompt: 'The sea', seconds: '5' }] as const,
        ['/v1/music/generations', { model: 'song-lyrics', prompt: 'The sea' }] as const,
      ].map(([path, body]) =>
        fetch(below.url + path, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      ),
    );
    await below.stop();
    expect([page.status, page.headers.get('location'), paths.api]).toEqual([
      302,
      '/shim/docs',
      '/shim/v1',
    ]);
    for (const answer of submitted) {
      const id = String(answer.headers.get('x-gateway-task-id'));
      expect(answer.headers.get('location')).toBe(`/shim/v1/tasks/${id}`);
    }
  });
});

describe('a model without any route', () => {
  it('is nothing to try again', async () => {
    const { headers } = await gateway.account();
    const answer = await fetch(`${gateway.url}/v1/images/generations`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gen-image-2', prompt: 'A lighthouse' }),
    });
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([503, 'false']);
    expect(await answer.json()).toMatchObject({ error: { code: 'no_eligible_route' } });
  });
});
