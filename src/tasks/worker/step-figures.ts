import type { JsonObject } from '../../common/json-object.js';
import type { ProviderFigures } from '../../common/money/provider-figures.js';
import type { Task } from '../task.js';

/** What the provider says that a step of a task costs, until the step is reported. */
export class StepFigures {
  private heard: ProviderFigures | undefined;

  /** Takes the figures of one answer. */
  readonly hear = (figures: ProviderFigures): void => {
    this.heard = { ...this.heard, ...figures };
  };

  /**
   * The report with the figures in its memory, beside those of earlier steps; operators see them on the task. What a step
   * before the operation costs has its number before the name, such as `step1.quota`.
   */
  addedTo<Report extends { readonly state: string; readonly memory?: JsonObject }>(
    report: Report,
    task: Task,
  ): Report {
    const { figures: earlier, rest } = memoryOf(task);
    if (this.heard === undefined && (earlier === undefined || !report.memory)) return report;
    const isBefore = report.state === 'step';
    const heard = Object.entries(this.heard ?? {}).map(([name, figure]) => [
      isBefore ? `step${Object.keys(rest).length + 1}.${name}` : name,
      figure,
    ]);
    const figures = { ...earlier, ...(Object.fromEntries(heard) as ProviderFigures) };
    return { ...report, memory: { ...(report.memory ?? rest), providerFigures: figures } };
  }
}

/** The figures of earlier steps, and what the kind itself remembers. */
export function memoryOf({ memory }: Task): { figures?: ProviderFigures; rest: JsonObject } {
  const { providerFigures, ...rest } = memory;
  return providerFigures === undefined
    ? { rest }
    : { figures: providerFigures as ProviderFigures, rest };
}
