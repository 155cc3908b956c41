import { createServer } from 'node:http';

/**
 * The provider of the benchmark of cut streams. It sends as many tokens as `user` says, reports no usage and then
 * waits. It tells its parent when a client has left, and how many tokens it had sent by then.
 */
const event = (delta: object) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-cut', choices: [{ index: 0, delta }] })}\n\n`;

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.once('end', () => {
    const { user } = JSON.parse(Buffer.concat(parts).toString()) as { user: string };
    const [id, tokens] = user.split(' ').map(Number);
    let made = 0;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.once('close', () => {
      process.send?.({ id, made, at: performance.timeOrigin + performance.now() });
    });
    const make = () => {
      if (response.destroyed || made === tokens) return;
      response.write(event({ content: ' and' }));
      made++;
      setImmediate(make);
    };
    make();
  });
});
server.listen({ port: Number(process.argv[2]), host: '127.0.0.1', backlog: 4_096 }, () =>
  process.send?.('ready'),
);
