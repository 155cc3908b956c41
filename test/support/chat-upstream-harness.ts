import { expect } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RawEvents } from './event-stream.js';
import { startTestGateway, type TestAccount, type TestGateway } from './gateway.js';
import { StubUpstream } from './stub-upstream.js';

/** The smallest chat request. */
export const ASK = { model: 'gen-5', messages: [{ role: 'user', content: 'Hello' }] };

/** A gateway whose chat provider a test plays; `gen-5-mini` has a second provider too. */
export class ChatUpstreamHarness {
  readonly url: string;

  private constructor(
    readonly upstream: StubUpstream,
    readonly backup: StubUpstream,
    readonly gateway: TestGateway,
  ) {
    this.url = `${gateway.url}/v1/chat/completions`;
  }

  /** Starts one; call {@link stop} in `afterAll`. */
  static async start(): Promise<ChatUpstreamHarness> {
    const [upstream, backup] = await Promise.all([StubUpstream.start(), StubUpstream.start()]);
    const catalogFile = join(mkdtempSync(join(tmpdir(), 'shim-catalog-')), 'catalog.json');
    process.env.BACKUP_KEY = 'backup-key';
    writeFileSync(catalogFile, JSON.stringify(overlay(backup.url)));
    const gateway = await startTestGateway({
      OPENAI_API_KEY: 'upstream-key',
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      CATALOG_FILE: catalogFile,
    });
    return new ChatUpstreamHarness(upstream, backup, gateway);
  }

  async stop(): Promise<void> {
    await this.gateway.expectCleanBooks();
    await this.gateway.stop();
    await Promise.all([this.upstream.stop(), this.backup.stop()]);
  }

  /** The stream of a request that is accepted. */
  async read(account: TestAccount, fields: object = {}): Promise<RawEvents> {
    const body = { ...ASK, stream: true, ...fields };
    const events = await RawEvents.post(this.url, account.headers, body);
    expect(events.status).toBe(200);
    return events;
  }
}

function overlay(backupUrl: string): object {
  const routes = [
    { provider: 'openai', upstream_model: 'first' },
    { provider: 'backup', upstream_model: 'second' },
  ];
  return {
    providers: [
      {
        id: 'backup',
        protocol: 'openai',
        base_url: `${backupUrl}/v1`,
        api_key_env: 'BACKUP_KEY',
      },
    ],
    models: [
      { id: 'gen-5-mini', routes, limits: { max_output_tokens: 128_000, context_length: 1_000 } },
    ],
  };
}

/** A chunk as a vendor writes it. */
export const chunk = (content: string, more: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'gpt-5-2026-vendor',
  system_fingerprint: 'fp_vendor',
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
  ...more,
});

/** One server-sent event. */
export const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;

/** A reply that sends each piece in a packet of its own. */
export function streams(...pieces: (string | Buffer)[]) {
  return async (response: ServerResponse): Promise<void> => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'up-1' });
    for (const piece of pieces) {
      response.write(piece);
      await sleep(2);
    }
    response.end();
  };
}
