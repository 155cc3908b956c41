import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { MEDIA_PREFIX } from './media/media-shelf.js';
import type { RecordedRequest } from './http/recorder.js';
import type { JobView } from './jobs/job-board.js';
import type { ChatRecord } from './chat/chat-log.js';
import { SANDBOX_API_KEY, TWIN_HEADER } from './http/protocol.js';
import type { SandboxStats } from './sandbox-server.js';

const THREAD_FILE = new URL('./sandbox.thread.js', import.meta.url);
const CLOSE_TIMEOUT_MS = 5000;
const CONTROL_TIMEOUT_MS = 5000;

/**
 * A running sandbox upstream. Below its root each provider has a base URL of the vendor's own format, so adapters treat
 * the sandbox like a vendor.
 */
export interface Sandbox {
  readonly url: string;
  /** Finished files: `/<name>` below it. */
  readonly mediaUrl: string;
  /** The key that every protocol accepts. */
  readonly apiKey: string;
  /** The header in which requests to a vendor of a file say of which version of the file they are. */
  readonly twinHeader: string;
  stats(): Promise<SandboxStats>;
  /** The last requests received, newest first. */
  requests(limit?: number): Promise<RecordedRequest[]>;
  /** What the last chat completions contained, newest first. */
  chats(limit?: number): Promise<ChatRecord[]>;
  /** The last accepted jobs, newest first. */
  jobs(limit?: number): Promise<JobView[]>;
  /** Puts a file on the shelf of finished files; returns its URL. */
  putMedia(bytes: Uint8Array, contentType: string, extension: string): Promise<string>;
  /** Stops at once: unfinished answers are cut. */
  close(): Promise<void>;
}

/**
 * Starts the sandbox upstream on 127.0.0.1 (on a free port when none is given). It runs in a thread of its own, so that
 * making media never delays the gateway, unless `ownThread` is false. When it is started from TypeScript sources there is no
 * built file for a thread, so it runs in the same thread.
 */
export async function startSandbox(
  options: { readonly port?: number; readonly ownThread?: boolean } = {},
): Promise<Sandbox> {
  const isOwnThread = options.ownThread !== false && existsSync(THREAD_FILE);
  const { port, close } = await (isOwnThread ? inThread : inProcess)(options.port ?? 0);
  const base = `http://127.0.0.1:${port}`;
  return {
    url: base,
    mediaUrl: `${base}${MEDIA_PREFIX}`,
    apiKey: SANDBOX_API_KEY,
    twinHeader: TWIN_HEADER,
    stats: () => ask<SandboxStats>(`${base}/__sandbox/stats`),
    requests: (limit = 100) => ask<RecordedRequest[]>(`${base}/__sandbox/requests?limit=${limit}`),
    chats: (limit = 100) => ask<ChatRecord[]>(`${base}/__sandbox/chats?limit=${limit}`),
    jobs: (limit = 100) => ask<JobView[]>(`${base}/__sandbox/jobs?limit=${limit}`),
    async putMedia(bytes, contentType, extension) {
      const asked = new URLSearchParams({ type: contentType, extension }).toString();
      const body = new Uint8Array(bytes);
      const url = `${base}/__sandbox/media?${asked}`;
      return (await ask<{ url: string }>(url, { method: 'POST', body })).url;
    },
    close,
  };
}

/**
 * Tells a running sandbox where its files are published; later URLs begin with `base`. Throws when it cannot be
 * reached.
 */
export async function publishMedia(
  { mediaUrl }: Pick<Sandbox, 'mediaUrl'>,
  base: string,
): Promise<void> {
  const url = new URL('/__sandbox/media-base', mediaUrl);
  url.searchParams.set('url', base);
  await tell(url);
}

/**
 * Tells a running sandbox which vendors it plays too, by their files with the addresses below its own as `base_url`. Throws when it
 * cannot be reached.
 */
export async function publishVendors(
  { url }: Pick<Sandbox, 'url'>,
  files: readonly object[],
): Promise<void> {
  await tell(new URL('/__sandbox/vendors', url), JSON.stringify(files));
}

async function tell(url: URL, body?: string): Promise<void> {
  const signal = AbortSignal.timeout(CONTROL_TIMEOUT_MS);
  const { ok, status } = await fetch(url, { method: 'PUT', signal, ...(body && { body }) });
  if (!ok) throw new Error(`the sandbox answered ${status}`);
}

interface Running {
  readonly port: number;
  readonly close: () => Promise<void>;
}

async function inThread(port: number): Promise<Running> {
  const thread = new Worker(THREAD_FILE, {
    workerData: { port },
    execArgv: ['--enable-source-maps'],
  });
  // A crash of the sandbox counts as an outage of a provider; the gateway goes on.
  thread.on('error', (error) => {
    process.emitWarning(error);
  });
  const [listening] = (await once(thread, 'message')) as [number];
  return {
    port: listening,
    async close() {
      const exited = once(thread, 'exit');
      thread.postMessage('close');
      const timer = setTimeout(() => void thread.terminate(), CLOSE_TIMEOUT_MS);
      await exited;
      clearTimeout(timer);
    },
  };
}

async function inProcess(port: number): Promise<Running> {
  const { SandboxServer } = await import('./sandbox-server.js');
  const server = new SandboxServer();
  return { port: await server.listen(port), close: () => server.close() };
}

async function ask<Answer>(url: string, init?: RequestInit): Promise<Answer> {
  const answer = await fetch(url, init);
  return (await answer.json()) as Answer;
}
