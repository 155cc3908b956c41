import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { postJson } from '../../support/http-answer.js';
import { expectRefused } from '../../support/refusal.js';
import { type GatewayFromOutside, sharedGateway } from '../../support/shared-gateway.js';

const PATH = '/v1/chat/completions';

let gateway: GatewayFromOutside;
let headers: Record<string, string>;
let accountId: string;

beforeAll(async () => {
  gateway = await sharedGateway();
  ({ headers, accountId } = await gateway.account());
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const image = (url: string) => ({ type: 'image_url', image_url: { url } });

function chat(urls: readonly string[], stream = false) {
  const content = [{ type: 'text', text: 'What is this?' }, ...urls.map(image)];
  const messages = [{ role: 'user', content }];
  return postJson(gateway.url + PATH, headers, { model: 'gen-5', stream, messages });
}

describe('images that a chat names', () => {
  const PRIVATE = [
    'http://127.0.0.1/a.png',
    'http://10.0.0.1/a.png',
    'http://169.254.169.254/latest/meta-data',
    'http://[::1]/a.png',
    'HTTP://0x7f.1/a.png',
    'http://localhost/a.png',
    'https://user:pass@93.184.216.34/a.png',
  ];

  it.each(PRIVATE.flatMap((url) => [false, true].map((stream) => ({ url, stream }))))(
    'are refused where they are not public: $url, stream $stream',
    async ({ url, stream }) => {
      const urls = ['data:image/png;base64,AAAA', 'https://93.184.216.34/a.png', url];
      await expectRefused(gateway, accountId, () => chat(urls, stream), {
        status: 400,
        code: 'invalid_request',
        param: 'messages.0.content.3.image_url.url',
      });
    },
  );

  it('come from 50 hosts at most', async () => {
    const hosts = Array.from({ length: 51 }, (_one, index) => `https://93.184.216.${index}/a.png`);
    await expectRefused(gateway, accountId, () => chat(hosts), {
      status: 400,
      code: 'invalid_request',
      param: 'messages.0.content.51.image_url.url',
    });
  });

  it('reach the provider where they are public or data', async () => {
    const urls = [
      'data:image/png;base64,AAAA',
      'https://93.184.216.34/a.png?x=1',
      'https://93.184.216.34/b.png',
    ];
    expect((await chat(urls)).status).toBe(200);
    const [last] = await gateway.upstreamRequests();
    expect(JSON.stringify(last?.body)).toContain(JSON.stringify(urls.map(image)).slice(1, -1));
  });
});
