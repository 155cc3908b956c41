import { Logger } from '@nestjs/common';
import {
  abortResponse,
  type AbortableResponse,
} from '../../platform/http-server/responses/backpressure.js';
import { DeadlinePassed } from './call-errors.js';

/** Extra time after the deadline for a provider that is already sending. */
const DEADLINE_GRACE_MS = 60_000;
/** A call that was aborted at its deadline and has no end after this time was forgotten by its endpoint. */
const FORGOTTEN_MS = 60_000;

/** A call with a deadline. */
export interface TimedCall {
  /** Whether the provider has begun to send the result. */
  readonly hasBegun: boolean;
  /** The response to the caller, if there is one. */
  readonly response: (AbortableResponse & { readonly headersSent: boolean }) | undefined;
  abort(reason: DeadlinePassed): void;
  /** Ends the call if it has no end. */
  releaseForgotten(): Promise<void>;
}

/**
 * The deadline of a call. A response that has begun is aborted, while the provider's work continues to its end and is
 * charged (decision G-25). A client that gets the response as a whole stays connected and may still get it. If the
 * provider has sent nothing yet, or needs more than {@link DEADLINE_GRACE_MS} more, the call is aborted.
 */
export class CallDeadline {
  private static readonly logger = new Logger(CallDeadline.name);
  private timer: NodeJS.Timeout;
  private waitsFor: 'deadline' | 'grace' | 'end' = 'deadline';

  constructor(
    private readonly call: TimedCall,
    deadlineMs: number,
  ) {
    this.timer = setTimeout(runOut, deadlineMs, this);
  }

  /** Called when the call has ended. */
  clear(): void {
    clearTimeout(this.timer);
  }

  /** The time that was given has passed. */
  runOut(): void {
    const { call, waitsFor } = this;
    if (waitsFor === 'end') {
      call.releaseForgotten().catch((error: unknown) => {
        CallDeadline.logger.error(error);
      });
      return;
    }
    const isSending = call.response !== undefined && call.hasBegun;
    if (isSending) this.abortSentResponse();
    if (isSending && waitsFor === 'deadline') {
      this.waitFor('grace', DEADLINE_GRACE_MS);
      return;
    }
    this.waitFor('end', FORGOTTEN_MS);
    call.abort(new DeadlinePassed());
  }

  private waitFor(what: CallDeadline['waitsFor'], ms: number): void {
    this.waitsFor = what;
    this.timer = setTimeout(runOut, ms, this);
  }

  /** The headers of a stream may be sent before its first chunk. */
  private abortSentResponse(): void {
    const { response } = this.call;
    if (response?.headersSent !== true) return;
    abortResponse(response);
    // A part of an answer is not kept: the call ends as that of a client that has left.
    response.req?.answerCopy?.drop();
  }
}

/** One function for all timers: a closure per call would cost memory. */
function runOut(deadline: CallDeadline): void {
  deadline.runOut();
}
