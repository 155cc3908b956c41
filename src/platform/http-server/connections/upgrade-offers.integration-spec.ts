import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { GET, received, serveInTurns, stopServing } from '../../../../test/support/turn-server.js';
import { until } from '../../../../test/support/until.js';

/** Java's own client makes this offer with each request that goes without TLS. */
const HEADERS =
  'Host: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';
const OFFERS: [what: string, offer: string][] = [
  ['no body', `GET / HTTP/1.1\r\n${HEADERS}\r\n`],
  ['an empty body', `POST / HTTP/1.1\r\n${HEADERS}Content-Length: 0\r\n\r\n`],
  ['a body', `POST / HTTP/1.1\r\n${HEADERS}Content-Length: 9\r\n\r\na\r\n\r\nbcde`],
  [
    'chunks',
    `POST / HTTP/1.1\r\n${HEADERS}Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n`,
  ],
];

afterEach(stopServing);

async function answerAll() {
  let answered = 0;
  const client = await serveInTurns((request, response) => {
    request.resume().once('end', () => response.end(`answer ${++answered};`));
  });
  return { client: client.setNoDelay(), text: received(client) };
}

describe.each(OFFERS)('behind a request with %s that offers an upgrade', (_what, offer) => {
  it('requests in the same packet are answered on the same connection', async () => {
    const { client, text } = await answerAll();
    client.write(offer + offer + GET + GET);
    await until(() => text().includes('answer 4;'));
    expect(text()).not.toMatch(/^HTTP\/1.1 [^2]|^Connection: close/im);
  });

  it('a request is answered wherever the packets end', async () => {
    for (let cut = offer.length - 14; cut < offer.length + 5; cut++) {
      const { client, text } = await answerAll();
      const bytes = offer + GET;
      client.write(bytes.slice(0, cut));
      await sleep(5);
      client.write(bytes.slice(cut));
      await until(() => text().includes('answer 2;'));
      client.destroy();
    }
  });
});
