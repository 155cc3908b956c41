import { createServer, type IncomingMessage } from 'node:http';

/**
 * A provider of songs and a receiver of webhooks. The job of `order N` succeeds as many milliseconds after its
 * submission as its prompt says; `/hook/N` receives its webhook. `GET /waits` returns [age at success, milliseconds
 * from success to webhook] of every task whose webhook has arrived.
 */
const succeedsAt = new Map<number, { readonly submitted: number; readonly success: number }>();
const waits: [number, number][] = [];
const TRACK = { musicId: 'm', audioUrl: 'https://media.example/a.mp3', duration: '10' };

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function answerTo(url: string, text: string): object {
  const success = (data: object): object => ({ status: 'SUCCESS', message: 'success', data });
  if (url === '/waits') return waits;
  const [, hook] = /^\/hook\/(\d+)$/.exec(url) ?? [];
  if (hook !== undefined) {
    const job = succeedsAt.get(Number(hook));
    if (job) waits.push([job.success - job.submitted, Date.now() - job.success]);
    return {};
  }
  const [, order, lasts] = /order (\d+) lasts (\d+)/.exec(text) ?? [];
  if (order !== undefined) {
    const submitted = Date.now();
    succeedsAt.set(Number(order), { submitted, success: submitted + Number(lasts) });
    return success({ job_id: order });
  }
  const job = succeedsAt.get(Number(/jobId=(\d+)/.exec(url)?.[1]));
  if (job && job.success <= Date.now()) return success({ musics: [TRACK, TRACK] });
  return { status: 'ON_QUEUE', message: '', data: { progress: '10%' } };
}

const server = createServer((request, response) => {
  void textOf(request).then((text) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answerTo(request.url ?? '', text)));
  });
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.argv[2]), '127.0.0.1', () => process.send?.('ready'));
