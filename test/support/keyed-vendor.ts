import type { ServerResponse } from 'node:http';
import type { SeenRequest, StubUpstream } from './stub-upstream.js';

/** The video that every job makes. */
export const MADE_VIDEO = Buffer.concat([
  Buffer.from([0, 0, 0, 24]),
  Buffer.from('ftypisom\0\0\x02\0isommp42', 'latin1'),
  Buffer.alloc(1_000),
]);

/** How a submission is answered. */
export type SubmissionReply = (response: ServerResponse) => unknown;

/** A vendor whose jobs belong to the account of a key: with another one it does not know them. */
export class KeyedVendor {
  /** What the vendor says to a submission with a key; a job by default. */
  readonly replies = new Map<string, SubmissionReply>();
  /** The key and what was asked, in order. */
  readonly asked: string[] = [];
  private readonly ownerOf = new Map<string, string>();

  constructor(readonly stub: StubUpstream) {
    stub.reply = (response, request) => {
      this.answer(response, request);
    };
  }

  /** The file of such a vendor; the variable of its keys is `TEST_<ID>_KEYS`. */
  static file(id: string, url: string): object {
    return {
      ...{ id, protocol: 'async-json', key_env: `TEST_${id.toUpperCase()}_KEYS` },
      ...{ base_url: `${url}/v1`, auth: { in: 'bearer' } },
      submit: { path: '/jobs', body: { prompt: '{{prompt}}' }, id: 'id' },
      read: {
        path: '/jobs/{id}',
        state: 'state',
        states: { succeeded: ['completed'], failed: ['failed'] },
      },
      result: { url: ['video'] },
      delete: { method: 'DELETE', path: '/jobs/{id}' },
    };
  }

  /** The keys of the submissions. */
  get submissions(): string[] {
    return this.asked.flatMap((line) => (line.startsWith('POST ') ? [line.slice(5)] : []));
  }

  clear(): void {
    this.replies.clear();
    this.asked.length = 0;
  }

  private answer(response: ServerResponse, { method, url, headers }: SeenRequest): void {
    if (url.endsWith('.mp4')) {
      response.writeHead(200, { 'content-type': 'video/mp4' }).end(MADE_VIDEO);
      return;
    }
    const key = String(headers.authorization).replace('Bearer ', '');
    this.asked.push(`${method} ${key}`);
    if (method === 'POST') {
      const reply = this.replies.get(key);
      if (reply) {
        reply(response);
        return;
      }
      const id = `job-${this.ownerOf.size + 1}`;
      this.ownerOf.set(id, key);
      response.end(JSON.stringify({ id }));
    } else if (this.ownerOf.get(url.slice('/v1/jobs/'.length)) !== key) {
      response.writeHead(404).end('{}');
    } else response.end(JSON.stringify({ state: 'completed', video: `${this.stub.url}/a.mp4` }));
  }
}
