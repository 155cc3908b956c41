import { Clock } from '../../src/common/time/clock.js';
import type { TestGateway } from './gateway.js';

/** Stops the clock of a gateway. All requests of a test then fall in one minute, however slow the machine is. */
export function stopClock({ app }: TestGateway): void {
  const clock = app.get(Clock);
  const nowMs = clock.nowMs();
  clock.nowMs = () => nowMs;
}
