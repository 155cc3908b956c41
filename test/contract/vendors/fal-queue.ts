import type { ServerResponse } from 'node:http';
import type { SeenRequest, StubUpstream } from '../../support/stub-upstream.js';

/** An answer: a status and JSON, or what is done with the connection. */
export type Said = readonly [status: number, json: unknown] | ((response: ServerResponse) => void);

/** The terms of a row whose jobs may take longer than any test. */
export const LONG_WAIT = { timeoutMs: 60_000 };

const JOB = '/fal-ai/flux/requests/r1';

/** Plays the queue of fal as its documents have it: a job is submitted, its status is asked for, then its result. */
export class FalQueue {
  accepted: Said;
  /** The answers to questions for the status, in their order; the last one repeats. */
  statuses: readonly Said[];
  result: Said = [200, { images: [] }];

  constructor(private readonly stub: StubUpstream) {
    this.accepted = [
      200,
      { request_id: 'r1', status: 'IN_QUEUE', queue_position: 1, ...this.urls },
    ];
    this.statuses = [this.waiting, this.done];
    stub.reply = (response, request) => {
      this.answer(response, request);
    };
  }

  get urls() {
    const base = this.stub.url + JOB;
    return { response_url: base, status_url: `${base}/status`, cancel_url: `${base}/cancel` };
  }
  get waiting(): Said {
    return [202, { status: 'IN_PROGRESS', request_id: 'r1', logs: [], ...this.urls }];
  }
  get done(): Said {
    const metrics = { inference_time: 2.5 };
    return [200, { status: 'COMPLETED', request_id: 'r1', logs: [], metrics, ...this.urls }];
  }

  /** The requests in their order, each as its method and its last step. */
  get asked(): string[] {
    return this.stub.seen.map(({ method, url }) => `${method} ${url.replace(JOB, '')}`);
  }
  /** How often the job was submitted. */
  get submissions(): number {
    return this.stub.seen.filter(({ method }) => method === 'POST').length;
  }
  /** Resolves once the job was asked to stop. */
  async untilCancelled(): Promise<void> {
    while (!this.asked.includes('PUT /cancel')) await new Promise((done) => setTimeout(done, 5));
  }

  private answer(response: ServerResponse, { method, url }: SeenRequest): void {
    if (method === 'POST') {
      tell(response, this.accepted);
      return;
    }
    if (method === 'PUT') {
      tell(response, [202, { status: 'CANCELLATION_REQUESTED' }]);
      return;
    }
    if (url === JOB) {
      tell(response, this.result);
      return;
    }
    const [first, ...rest] = this.statuses;
    if (rest.length > 0) this.statuses = rest;
    tell(response, first ?? [500, {}]);
  }
}

function tell(response: ServerResponse, said: Said): void {
  if (typeof said === 'function') said(response);
  else response.writeHead(said[0]).end(JSON.stringify(said[1]));
}
