import type { JsonObject } from '../../common/json-object.js';
import type { ProviderFigures } from '../../common/money/charge-basis.js';
import type { Task } from '../task.js';

/** Collects the cost figures that the provider reports during a step. */
export class StepFigures {
  private collected: ProviderFigures | undefined;

  /** Adds the figures of one response. */
  readonly add = (figures: ProviderFigures): void => {
    this.collected = { ...this.collected, ...figures };
  };

  /**
   * The report with the figures added to its step state, beside those of earlier steps; operators see them on the task. Figures
   * of a preparatory step are prefixed with its number, such as `step1.quota`.
   */
  addedTo<Report extends { readonly state: string; readonly stepState?: JsonObject }>(
    report: Report,
    task: Task,
  ): Report {
    const { figures: earlier, rest } = splitStepState(task);
    if (this.collected === undefined && (earlier === undefined || !report.stepState)) return report;
    const isBefore = report.state === 'step';
    const collected = Object.entries(this.collected ?? {}).map(([name, figure]) => [
      isBefore ? `step${Object.keys(rest).length + 1}.${name}` : name,
      figure,
    ]);
    const figures = { ...earlier, ...(Object.fromEntries(collected) as ProviderFigures) };
    return { ...report, stepState: { ...(report.stepState ?? rest), providerFigures: figures } };
  }
}

/** Splits the step state into the figures of earlier steps and the kind's own state. */
export function splitStepState({ stepState }: Task): {
  figures?: ProviderFigures;
  rest: JsonObject;
} {
  const { providerFigures, ...rest } = stepState;
  return providerFigures === undefined
    ? { rest }
    : { figures: providerFigures as ProviderFigures, rest };
}
