import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The provider of the chat benchmark: a JSON completion at once, or with `stream` 100 chunks at a fixed pace. Each
 * chunk holds the time at which it was written, so that its reader can compute how long it took.
 */
const CHUNKS = 100;
const PACE_MS = Number(process.argv[3] ?? 100);
const usage = { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 };
const head = { id: 'chatcmpl-bench', created: 1_795_132_800, model: 'gpt-5' };
const whole = Buffer.from(
  JSON.stringify({
    ...head,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'The sky scatters blue light more. '.repeat(10) },
        finish_reason: 'stop',
      },
    ],
    usage,
  }),
);
const event = (choices: object[], more: object = {}) =>
  `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...more })}\n\n`;

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.once('end', () => {
    if (!Buffer.concat(parts).includes('"stream":true')) {
      response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'bench' });
      response.end(whole);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'bench' });
    void (async () => {
      // The streams start spread over one interval, so that the load is even.
      await sleep(Math.random() * PACE_MS);
      for (let index = 0; index < CHUNKS && !response.destroyed; index++) {
        const content = `${performance.timeOrigin + performance.now()} `;
        response.write(event([{ index: 0, delta: { content }, finish_reason: null }]));
        await sleep(PACE_MS);
      }
      response.write(event([{ index: 0, delta: {}, finish_reason: 'stop' }]));
      response.write(event([], { usage }));
      response.end('data: [DONE]\n\n');
    })();
  });
});
server.keepAliveTimeout = 60_000;
server.listen({ port: Number(process.argv[2]), host: '127.0.0.1', backlog: 4_096 }, () =>
  process.send?.('ready'),
);
