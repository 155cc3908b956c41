import assert from 'node:assert/strict';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { toPublicId } from '../../common/ids/public-id.js';
import { Quota } from '../../platform/fairness/quota.js';
import {
  type AnswerCopy,
  type LeftAnswers,
  ReplayedAnswer,
} from '../../platform/http-server/responses/answer-copy.js';
import { setExecutionId } from '../../platform/http-server/responses/execution-id.js';
import { checkedIdempotencyKey } from '../idempotency-key.guard.js';
import { ModelGuard } from '../model.guard.js';
import { prefers } from '../preferences.js';
import { CallKeys } from './call-keys.js';
import { KeptAnswers } from './kept-answers.js';
import { KeptFiles } from './kept-files.js';
import { KeptCall, type KeptCallTerms, MAX_ANSWER_BYTES } from './kept-call.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** The call whose answer is kept, or that has an idempotency key. Set by the model guard of calls. */
    keptCall?: KeptCall;
    /** By which requests with the same idempotency key are compared, where that is more than the body: a form with files. */
    keyedBody?: { readonly fields: object; readonly files?: object };
  }
}

/** OpenAPI: the key of a synchronous call. */
export const CallKeyHeader = (): MethodDecorator =>
  ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description:
      'Within 24 hours a retry with the same key and body gets the same answer, with `x-gateway-replayed: true`, and is not charged again',
    schema: { type: 'string', minLength: 1, maxLength: 200, pattern: '^[ -~]+$' },
  });

/** Copies of answers that a process has in memory at once, and those of one account. */
const COPIES_IN_MEMORY = { total: 32 * MAX_ANSWER_BYTES, perBucket: 8 * MAX_ANSWER_BYTES };

/**
 * Checks the model of a synchronous call, except for replays: what an idempotency key has bought is sent again for the same body,
 * even if model, allowlist, provider or balance have changed since (decisions G-48, G-86). Calls whose answer their caller wants
 * kept are noted on the request.
 */
@Injectable()
export class CallModelGuard implements CanActivate, LeftAnswers {
  private readonly memory = new Quota(COPIES_IN_MEMORY);

  constructor(
    private readonly models: ModelGuard,
    private readonly keys: CallKeys,
    private readonly answers: KeptAnswers,
    private readonly files: KeptFiles,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    request.leftAnswers = this;
    const key = checkedIdempotencyKey(request);
    const isAsked = prefers(request.headers.prefer, 'keep');
    if (key === undefined && !isAsked && request.caller?.keepsAnswers !== true)
      return this.models.canActivate(context);
    const response = context.switchToHttp().getResponse<Response>();
    if (isAsked) response.setHeader('Preference-Applied', 'keep');
    if (key === undefined) {
      this.note(request, response);
      return this.models.canActivate(context);
    }
    return this.claim(key, request, response).then(() => this.models.canActivate(context));
  }

  /** A copy of the answer to a caller that has left. Its call is charged. */
  copyOf({ req }: Response): AnswerCopy {
    return new KeptCall(this.termsOf(req), 'done');
  }

  /** Throws {@link ReplayedAnswer}, and 409 `conflict` for an answer that was not kept. */
  private async claim(key: string, request: Request, response: Response): Promise<void> {
    const { accountId, executionId } = this.termsOf(request);
    const { path: endpoint } = request.route as { readonly path: string };
    const body: unknown = request.keyedBody ?? request.body;
    const isGone = () => response.destroyed;
    const apiKeyId = request.caller?.apiKeyId ?? '';
    const use = { accountId, apiKeyId, endpoint, key, executionId, body, isGone };
    const result = await this.keys.claim(use);
    if (result.outcome === 'bound') {
      const answer = await this.answers.find(accountId, result.executionId);
      // Audio, which may be in a file, is sold without a key.
      if (answer && 'body' in answer) throw new ReplayedAnswer(answer);
      const execution = toPublicId('exec', result.executionId);
      setExecutionId(response, execution);
      throw notKept(execution);
    }
    this.note(request, response, result.outcome === 'claimed' ? result.claim : 'conflict');
  }

  private note(request: Request, response: Response, key?: KeptCallTerms['key']): void {
    const kept = new KeptCall({ ...this.termsOf(request), key });
    request.keptCall = kept;
    request.answerCopy = kept;
    if (response.destroyed) kept.onClose();
    else
      response.once('close', () => {
        kept.onClose();
      });
  }

  private termsOf({ caller, executionId }: Request) {
    assert(caller, 'CallModelGuard needs BearerGuard before it');
    const { accountId } = caller;
    const { answers, files, memory } = this;
    return { accountId, executionId, answers, files, memory };
  }
}

function notKept(execution: string): GatewayError {
  const message = `This key has bought the answer of ${execution}, which is not kept. Nothing was charged again.`;
  return new GatewayError('conflict', message, { param: 'Idempotency-Key' });
}
