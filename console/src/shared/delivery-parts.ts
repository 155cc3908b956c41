import type { Shape } from './api.js';
import type { Filter } from './filters.js';

/** The filter by state that each list of deliveries has. */
export const DELIVERY_STATUS: Filter = {
  name: 'status',
  label: 'Status',
  choices: [
    ['', 'Any'],
    ['pending', 'Pending'],
    ['delivered', 'Delivered'],
    ['failed', 'Failed'],
  ],
};

/** What came of an attempt: the status that the receiver answered, or why no answer came. */
export const answerOfAttempt = ({ status_code: status, error }: Shape<'AttemptView'>): string =>
  status === null ? (error ?? 'no answer').replaceAll('_', ' ') : `HTTP ${status}`;
