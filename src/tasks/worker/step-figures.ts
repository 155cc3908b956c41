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

  /** The report with the figures in its memory, beside those of earlier steps; operators see them on the task. */
  addedTo<Report extends { readonly memory?: JsonObject }>(report: Report, task: Task): Report {
    if (this.heard === undefined) return report;
    const earlier = task.memory.providerFigures as ProviderFigures | undefined;
    const memory = report.memory ?? task.memory;
    return { ...report, memory: { ...memory, providerFigures: { ...earlier, ...this.heard } } };
  }
}
