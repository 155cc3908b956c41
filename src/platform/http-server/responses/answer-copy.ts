import type { Response } from 'express';
import { setExecutionId } from './execution-id.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Takes the answer while it is sent; absent where nobody wants it kept. */
    answerCopy?: AnswerCopy;
    /** Makes a copy for an answer whose caller has left. */
    leftAnswers?: LeftAnswers;
  }
}

/** A copy of an answer, which is kept once the call is charged. */
export interface AnswerCopy {
  /** Whether it takes what is sent. Then the answer is made to its end, also for a client that has left. */
  readonly isOpen: boolean;
  /** Called once where the copy is given up before its end, so that nobody waits for the answer of a client that has left. */
  onDrop?: (() => void) | undefined;
  /** Adds what is sent, pings left out. */
  add(piece: string | Buffer): void;
  /**
   * Adds an answer that is whole in memory, which may have any size unless it is bound to an idempotency key. Resolves once it is taken;
   * never rejects.
   */
  addWhole(answer: string): Promise<void>;
  /**
   * As {@link add}, for audio, which may have any size. If it returns a promise, wait for that before the next piece; it never
   * rejects.
   */
  addAudio(piece: Buffer): Promise<void> | undefined;
  /** The answer is not whole: it is not kept. */
  drop(): void;
  /** The answer is an error. Resolves once the caller may try again with the same idempotency key; never rejects. */
  refused(): Promise<void>;
  /**
   * Keeps what was added, if the call was charged, and resolves once that is durable or has failed; never rejects. Where an answer
   * that was wanted is not kept, the head says so, unless it was sent.
   */
  keep(response: Response, contentType: string): Promise<void>;
}

/** Copies answers that nobody asked to keep. */
export interface LeftAnswers {
  /** A copy of the answer to this request, which is charged. */
  copyOf(response: Response): AnswerCopy;
}

/** An answer as it was sent. */
export interface SentAnswer {
  /** Public id of its execution. */
  readonly executionId: string;
  readonly contentType: string;
  /** What its head said beside the type, such as the charge. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** For what a kept answer is encrypted: the UUID of its execution is part of it. */
export function contextOfAnswer(id: string): string {
  return `answers/${id}`;
}

/** Header of every response of the sandbox, errors included (decision G-110). */
export const SANDBOX_HEADER = 'x-gateway-sandbox';
/** Header that says that an answer is an earlier one again. */
export const REPLAYED_HEADER = 'x-gateway-replayed';
/** Header that says that an answer is not kept although its caller wanted that. */
export const KEPT_HEADER = 'x-gateway-kept';

/** The copy that is kept of this answer; one of a client that has left is kept without being asked for. */
export function copyOf(response: Response): AnswerCopy | undefined {
  const { answerCopy, leftAnswers } = response.req;
  return answerCopy ?? (response.destroyed ? leftAnswers?.copyOf(response) : undefined);
}

/** Sends what was kept of an answer, without what its head said of the call. */
export function sendContent(response: Response, answer: SentAnswer): void {
  setContentHeaders(response, answer);
  response.end(answer.body);
}

/** Sets what the head of a kept answer says. */
export function setContentHeaders(
  response: Response,
  { contentType, headers }: Pick<SentAnswer, 'contentType' | 'headers'>,
): void {
  const isSandbox = headers[SANDBOX_HEADER];
  if (isSandbox !== undefined) response.setHeader(SANDBOX_HEADER, isSandbox);
  response.setHeader('Content-Type', contentType);
}

/**
 * Thrown by a guard or a call instead of a result: the answer of an earlier request with the same idempotency key, which the filter
 * of errors sends.
 */
export class ReplayedAnswer extends Error {
  constructor(private readonly answer: SentAnswer) {
    super('an earlier answer is sent again');
  }

  /** Sends the earlier answer with its status, its charge, and the id of its execution. */
  send(response: Response): void {
    setExecutionId(response, this.answer.executionId);
    response.setHeader(REPLAYED_HEADER, 'true');
    for (const [name, value] of Object.entries(this.answer.headers))
      response.setHeader(name, value);
    sendContent(response.status(200), this.answer);
  }
}

/** OpenAPI: what the head of an answer says whose caller wanted it kept. */
export const KEPT_HEADERS = {
  'Preference-Applied': {
    description: '`keep`, where the call had `Prefer: keep`',
    schema: { type: 'string' },
  },
  [KEPT_HEADER]: {
    description:
      '`false`: the answer is not kept, because it is too large, the account has kept 1 GB, or disk or storage did not take it',
    schema: { type: 'string', enum: ['false'] },
  },
};

/** OpenAPI: what the head of an answer to a call with an `Idempotency-Key` may say. */
export const KEY_HEADERS = {
  ...KEPT_HEADERS,
  [REPLAYED_HEADER]: {
    description:
      '`true`: the answer of an earlier request with the same `Idempotency-Key`; nothing was charged again',
    schema: { type: 'string', enum: ['true'] },
  },
};
