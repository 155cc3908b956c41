import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.js';
import { mutated, type Random } from '../../media/fuzz.js';
import { overlay } from '../../support/overlay-file.js';
import { damagedJson, picked } from './damage.js';

const CUT_AFTER_MS = 20;
const EVENT = /^data: (\{.*)$/gm;
/** Statuses whose answers are not damaged in the same way by a provider. */
const STATUSES = [201, 204, 206, 302, 304, 400, 409, 418, 500, 502, 504] as const;
const TYPES = ['application/json', 'text/html', 'audio/mpeg', 'video/mp4', 'x', ''] as const;
/** Headers that belong to a connection or to the undamaged body. */
const OWN_HEADERS = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'transfer-encoding',
]);

/** The model of the sandbox alone, at a provider that is none. */
const EMBEDDING = {
  id: 'gen-embed-demo',
  operation: 'embeddings',
  routes: [{ provider: 'openai', upstream_model: 'embed-demo' }],
  price: { unit: 'token', input_micro_usd_per_million: 20_000 },
};

const chatAt = (id: string, provider: string, upstreamModel: string) => ({
  id,
  operation: 'chat',
  routes: [{ provider, upstream_model: upstreamModel }],
  price: {
    unit: 'token',
    input_micro_usd_per_million: 1_000_000,
    output_micro_usd_per_million: 2_000_000,
  },
  limits: { max_output_tokens: 4_000 },
});
/** Chat models at vendors of other protocols than OpenAI's. */
const OTHER_CHATS = [
  chatAt('gen-of-messages', 'anthropic', 'claude-like'),
  chatAt('gen-of-contents', 'gemini', 'gemini-3-sandbox'),
];
/** Their ids. */
export const OTHER_FAMILIES = OTHER_CHATS.map(({ id }) => id);

/** An answer, as it leaves. */
interface Answer {
  status: number;
  readonly headers: Record<string, string>;
  body: Buffer;
}

/** Every provider at once: it passes requests on to the sandbox, and damages what that answers. */
export class DamagingProvider {
  /** Before this is set, answers are passed on as they are. */
  random: Random | undefined;
  /** How many answers left as they were made, damaged, and cut. */
  readonly counts = { whole: 0, damaged: 0, cut: 0 };
  private readonly server: Server;

  private constructor(private readonly sandbox: Sandbox) {
    this.server = createServer((request, response) => {
      this.pass(request, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<DamagingProvider> {
    const provider = new DamagingProvider(await startSandbox());
    await once(provider.server.listen(0, '127.0.0.1'), 'listening');
    return provider;
  }

  /** The settings of a gateway whose providers are all this one. */
  get settings(): NodeJS.ProcessEnv {
    const { apiKey } = this.sandbox;
    return {
      SANDBOX: 'off',
      CATALOG_FILE: overlay({ models: [EMBEDDING, ...OTHER_CHATS] }),
      OPENAI_API_KEY: apiKey,
      OPENAI_BASE_URL: this.here('/openai/v1'),
      ANTHROPIC_API_KEY: apiKey,
      ANTHROPIC_BASE_URL: this.here('/anthropic'),
      GEMINI_API_KEY: apiKey,
      GEMINI_BASE_URL: this.here('/gemini/v1beta'),
      VIDEO_API_KEY: apiKey,
      VIDEO_BASE_URL: this.here('/video/v1'),
      ELEVENLABS_API_KEY: apiKey,
      ELEVENLABS_BASE_URL: this.here('/elevenlabs'),
      TTAPI_API_KEY: apiKey,
      TTAPI_BASE_URL: this.here('/ttapi'),
    };
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
    await this.sandbox.close();
  }

  private here(path: string): string {
    const { port } = this.server.address() as AddressInfo;
    return `http://127.0.0.1:${port}${path}`;
  }

  private async pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = 'GET', url = '/', headers } = request;
    const made = await fetch(new URL(url, this.sandbox.url), {
      method,
      headers: plainHeaders(headers),
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      redirect: 'manual',
    });
    const answer = {
      status: made.status,
      headers: plainHeaders(Object.fromEntries(made.headers)),
      body: Buffer.from(await made.arrayBuffer()),
    };
    const { random } = this;
    const fate = random === undefined ? 0 : random(12);
    if (random !== undefined && fate > 3) damage(answer, random);
    this.counts[fate < 4 ? 'whole' : fate < 11 ? 'damaged' : 'cut'] += 1;
    if (random !== undefined && fate === 11) cut(answer, response, random);
    else response.writeHead(answer.status, answer.headers).end(answer.body);
  }
}

/** Ends the connection before the end of the body. */
function cut({ status, headers, body }: Answer, response: ServerResponse, random: Random): void {
  response.writeHead(status, { ...headers, 'content-length': body.length + 1 });
  response.write(body.subarray(0, random(body.length + 1)));
  setTimeout(() => response.destroy(), CUT_AFTER_MS);
}

function plainHeaders(headers: IncomingMessage['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' && !OWN_HEADERS.has(name) && name !== 'host' ? [[name, value]] : [],
    ),
  );
}

function damage(answer: Answer, random: Random): void {
  const type = answer.headers['content-type'] ?? '';
  if (random(8) === 0) answer.status = picked(STATUSES, random);
  if (random(8) === 0) answer.headers['content-type'] = picked(TYPES, random);
  if (type.includes('json')) answer.body = damagedJson(JSON.parse(answer.body.toString()), random);
  else if (type.includes('event-stream'))
    answer.body = damagedEvents(answer.body.toString(), random);
  else if (random(2) === 0) answer.body = mutated(answer.body, answer.body, random);
}

/** Some events are damaged, and sometimes the text of all. */
function damagedEvents(text: string, random: Random): Buffer {
  const events = text.replace(EVENT, (event, json: string) =>
    random(4) === 0 ? `data: ${damagedJson(JSON.parse(json), random).toString()}` : event,
  );
  const bytes = Buffer.from(events);
  return random(5) === 0 ? mutated(bytes, bytes, random) : bytes;
}
