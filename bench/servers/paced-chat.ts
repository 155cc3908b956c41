import { createServer } from 'node:http';

/**
 * The provider of the benchmark of many streams. `user` is the name of a stream and how many tokens it makes, one at
 * each interval. Each chunk tells when it was written. At the end it tells its parent how many of them it made.
 */
const PACE_MS = Number(process.argv[3]);
const PROMPT_TOKENS = Number(process.argv[4]);
const event = (data: object) => `data: ${JSON.stringify({ id: 'chatcmpl-paced', ...data })}\n\n`;

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.once('end', () => {
    const { user } = JSON.parse(Buffer.concat(parts).toString()) as { user: string };
    const [, tokens = 0] = user.split(' ').map(Number);
    let made = 0;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const make = (): void => {
      made += 1;
      const at = performance.timeOrigin + performance.now();
      // The gateway passes on the fields it knows; this one costs nothing and may hold anything.
      const delta = { content: ' and', extra_content: { at } };
      response.write(event({ choices: [{ index: 0, delta, finish_reason: null }] }));
      if (made < tokens) return;
      clearInterval(timer);
      const usage = { prompt_tokens: PROMPT_TOKENS, completion_tokens: made };
      response.write(event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
      response.write(event({ choices: [], usage }));
      response.end('data: [DONE]\n\n');
    };
    const timer = setInterval(make, PACE_MS);
    response.once('close', () => {
      clearInterval(timer);
      process.send?.({ tokens, made });
    });
    make();
  });
});
server.listen({ port: Number(process.argv[2]), host: '127.0.0.1', backlog: 4_096 }, () =>
  process.send?.('ready'),
);
