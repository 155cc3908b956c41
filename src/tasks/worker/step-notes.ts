import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { ProviderFigures } from '../../common/money/charge-basis.js';
import type { FinishedAttempt } from '../../providers/ports/attempt.js';
import {
  type KeptAttempt,
  keptAttemptOf,
  withAttempt,
} from '../../providers/routing/attempt-log.js';
import type { TracedSpan } from '../../platform/observability/traced-span.js';
import { beginAttempt, endOfAttempt } from '../../providers/routing/attempt-span.js';
import type { Task } from '../task.js';

/** The steps of a task that ask its provider. */
export type ProviderStep = 'submit' | 'look_up' | 'poll' | 'download';

/** The last submission of a task that may have begun the work: it was put off, or its answer was lost. */
export interface OpenSubmission {
  readonly provider: string;
  /** Milliseconds from the submission of the task to this one. */
  readonly startMs: number;
}

/**
 * Collects what operators see of a step: the cost figures that the provider reports, the attempts, and the output cap that was
 * chosen. They are kept in the step state of the task, beside those of earlier steps. The attempts stand among the figures, because a process of version 0.1.0 sends all else of the
 * step state of a song to the provider.
 */
export class StepNotes {
  private figures: ProviderFigures | undefined;
  private attempts: readonly KeptAttempt[] = [];
  private outputCap: number | undefined;
  private openSubmission: OpenSubmission | undefined;

  /** Attempts are timed from the submission of the task, at `submittedAtMs` by this process's clock. */
  constructor(
    private step: ProviderStep,
    private readonly submittedAtMs: number,
    private readonly traced?: { readonly span: TracedSpan; readonly operation: string },
  ) {}

  /** Adds the figures of one response. */
  readonly onFigures = (figures: ProviderFigures): void => {
    this.figures = { ...this.figures, ...figures };
  };

  /** What follows asks for the job of a submission whose answer was lost. */
  beginLookUp(): void {
    this.step = 'look_up';
  }

  /** The submission to the provider that this step sent last may have begun the work. False if it sent none. */
  keepOpenSubmission(provider: string): boolean {
    const startMs = lastSentMs(this.attempts, provider);
    if (startMs === undefined) return false;
    this.openSubmission = { provider, startMs };
    return true;
  }

  /**
   * Milliseconds from the submission of the task to the last request that may have begun its job. It is kept from now on, because
   * the look-ups that follow take the places of the attempts.
   */
  openedMs({ provider, stepState }: Pick<Task, 'provider' | 'stepState'>): number {
    if (!this.keepOpenSubmission(provider)) {
      const { attempts, openSubmission: open } = splitStepState({ stepState });
      const keptMs = open?.provider === provider ? open.startMs : lastSentMs(attempts, provider);
      this.openSubmission = { provider, startMs: keptMs ?? 0 };
    }
    return this.openSubmission?.startMs ?? 0;
  }

  /** Forgets the figures of this step so far. */
  dropFigures(): void {
    this.figures = undefined;
  }

  /** Adds one attempt. */
  readonly onAttemptEnd = (attempt: FinishedAttempt): void => {
    const record = { ...keptAttemptOf(attempt, this.submittedAtMs), step: this.step };
    this.attempts = withAttempt(this.attempts, record);
    if (!this.traced) return;
    const { span, operation } = this.traced;
    beginAttempt(span, operation, attempt, attempt.startedAtMs).end(endOfAttempt(attempt));
  };

  /** The output cap that the gateway chose for a text, as `MadeTextNotes` keeps it. */
  readonly onOutputCap = (tokens: number): void => {
    this.outputCap = tokens;
  };

  /**
   * The report with the notes added to its step state. Figures of a preparatory step are prefixed with its number, such as
   * `step1.quota`.
   */
  addedTo<Report extends { readonly state: string; readonly stepState?: JsonObject }>(
    report: Report,
    task: Task,
  ): Report {
    if (!report.stepState && !this.hasNotesFor(task)) return report;
    const { rest } = splitStepState(task);
    const notes = this.notesWith(task, report.state === 'step');
    return { ...report, stepState: { ...(report.stepState ?? rest), ...notes } };
  }

  /** The step state of a task whose step has no report; undefined where it stays as it is. */
  stepStateOf(task: Pick<Task, 'stepState'>): JsonObject | undefined {
    if (!this.hasNotesFor(task)) return undefined;
    return { ...splitStepState(task).rest, ...this.notesWith(task, false) };
  }

  private hasNotesFor(task: Pick<Task, 'stepState'>): boolean {
    const own = [this.figures, this.outputCap, this.openSubmission];
    const hasOwn = own.some((one) => one !== undefined);
    return hasOwn || this.areAttemptsKept(task);
  }

  /** A step that succeeds at once needs no list: the record of the task says all of it. */
  private areAttemptsKept({ stepState }: Pick<Task, 'stepState'>): boolean {
    const isPlain = this.attempts.every(({ outcome }) => outcome === 'success');
    return (
      this.attempts.length > 0 && (!isPlain || splitStepState({ stepState }).attempts.length > 0)
    );
  }

  private notesWith(task: Pick<Task, 'stepState'>, isBefore: boolean): JsonObject {
    const { figures: earlier, attempts: kept, openSubmission: open, rest } = splitStepState(task);
    const figures = Object.entries(this.figures ?? {}).map(([name, figure]) => [
      isBefore ? `step${Object.keys(rest).length + 1}.${name}` : name,
      figure,
    ]);
    const attempts = this.areAttemptsKept(task) ? this.attempts.reduce(withAttempt, kept) : kept;
    const cap = this.outputCap === undefined ? {} : { outputCap: this.outputCap };
    const openSubmission = this.openSubmission ?? open;
    if (!earlier && !this.figures && !openSubmission && attempts.length === 0) return cap;
    const all = { ...earlier, ...(Object.fromEntries(figures) as ProviderFigures) };
    const marks = {
      ...(attempts.length > 0 && { attempts }),
      ...(openSubmission && { openSubmission }),
    };
    return { ...cap, providerFigures: { ...all, ...marks } };
  }
}

function lastSentMs(attempts: readonly KeptAttempt[], provider: string): number | undefined {
  return attempts.findLast((one) => one.step === 'submit' && one.provider === provider)?.startMs;
}

/** Splits the step state into the figures, attempts and open submission of earlier steps and the kind's own state. */
export function splitStepState({ stepState }: Pick<Task, 'stepState'>): {
  figures?: ProviderFigures;
  attempts: readonly KeptAttempt[];
  openSubmission?: OpenSubmission;
  rest: JsonObject;
} {
  const { providerFigures, ...rest } = stepState;
  const known = isJsonObject(providerFigures) ? providerFigures : {};
  const { attempts, openSubmission, ...figures } = known;
  return {
    ...(Object.keys(figures).length > 0 && { figures: figures as ProviderFigures }),
    ...(isJsonObject(openSubmission) && {
      openSubmission: openSubmission as unknown as OpenSubmission,
    }),
    attempts: Array.isArray(attempts) ? (attempts as KeptAttempt[]) : [],
    rest,
  };
}
