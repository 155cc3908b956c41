import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { StubUpstream } from './stub-upstream.js';

/** The order of a job. The provider follows `plan`. */
export interface JobRequest {
  readonly name: string;
  readonly plan: SubmitPlan;
}

/** How the provider answers a submission. All but `accept`, `done` and those cut after the send start nothing. */
export type SubmitPlan =
  | 'accept'
  | 'done'
  | 'step'
  | 'refuse'
  | 'busy'
  | 'own-500'
  | 'bad-gateway'
  | 'html'
  | 'empty'
  | 'reset'
  | 'hang'
  | 'crash';

/** What the provider says about a job when it is asked. */
export interface PollPlan {
  readonly status: string;
  readonly progress?: unknown;
  readonly result?: object;
  /** An answer that cannot be read. */
  readonly broken?: 'html' | '500' | 'reset' | 'hang' | '404';
}

/** A provider of jobs behind real HTTP. It remembers what was really started. */
export class JobProvider {
  /** Submissions received, by its name. */
  readonly submissions = new Map<string, number>();
  /** Jobs the provider has begun, by id, with their names. */
  readonly jobs = new Map<string, string>();
  polls = 0;
  /** No submission is answered before it resolves. */
  held: Promise<unknown> = Promise.resolve();
  /** Delay of every answer. */
  delayMs = 0;
  /** The next answers to submissions. They come before the plans of the jobs. */
  readonly plans: SubmitPlan[] = [];
  /** The state of every job that has no state of its own. */
  state: PollPlan = { status: 'done', progress: 100, result: { url: 'https://media.example/a' } };
  readonly states = new Map<string, PollPlan>();

  private constructor(private readonly stub: StubUpstream) {
    stub.reply = async (response, { method, url, body }) => {
      if (method === 'POST') await this.submit(response, JSON.parse(body.toString()) as JobRequest);
      else this.poll(response, url.slice(url.lastIndexOf('/') + 1));
    };
  }

  static async start(): Promise<JobProvider> {
    return new JobProvider(await StubUpstream.start());
  }

  get url(): string {
    return this.stub.url;
  }

  /** Jobs begun for a name. */
  jobsOf(name: string): number {
    return [...this.jobs.values()].filter((begun) => begun === name).length;
  }

  stop(): Promise<void> {
    return this.stub.stop();
  }

  private async submit(response: ServerResponse, request: JobRequest): Promise<void> {
    this.submissions.set(request.name, (this.submissions.get(request.name) ?? 0) + 1);
    const plan = this.plans.shift() ?? request.plan;
    const begins = ['accept', 'done', 'step', 'html', 'empty', 'reset', 'hang', 'crash'];
    const id = `job-${this.jobs.size + 1}`;
    if (begins.includes(plan)) this.jobs.set(id, request.name);
    await this.held;
    await sleep(this.delayMs);
    this.answerSubmission(response, plan, id);
  }

  private answerSubmission(response: ServerResponse, plan: SubmitPlan, id: string): void {
    const answers: Readonly<Record<SubmitPlan, () => void>> = {
      accept: () => {
        json(response, 200, { id, plan });
      },
      crash: () => {
        json(response, 200, { id, plan });
      },
      step: () => {
        json(response, 200, { id, plan });
      },
      done: () => {
        json(response, 200, { id, plan, result: AT_ONCE });
      },
      refuse: () => {
        json(response, 400, { code: 'unsupported_language', text: 'vendor words' });
      },
      busy: () => {
        json(response, 503, { code: 'overloaded' });
      },
      'own-500': () => {
        json(response, 500, { code: 'generation_error' });
      },
      'bad-gateway': () => {
        json(response, 502, { code: 'bad_gateway' });
      },
      html: () => {
        response.end('<html>all is well</html>');
      },
      empty: () => {
        response.end();
      },
      reset: () => {
        response.socket?.destroy();
      },
      hang: () => undefined,
    };
    answers[plan]();
  }

  private poll(response: ServerResponse, id: string): void {
    this.polls += 1;
    const state = this.states.get(id) ?? this.state;
    const breaks: Readonly<Record<NonNullable<PollPlan['broken']>, () => void>> = {
      html: () => {
        response.end('<html>no state</html>');
      },
      '500': () => {
        response.writeHead(500).end();
      },
      '404': () => {
        response.writeHead(404).end('{}');
      },
      reset: () => {
        response.socket?.destroy();
      },
      hang: () => undefined,
    };
    if (state.broken) breaks[state.broken]();
    else json(response, 200, state);
  }
}

const AT_ONCE = { url: 'https://media.example/at-once' };

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
