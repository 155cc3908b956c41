import { MAX_EPOCH_SECONDS } from '../../common/time/clock.js';
import { Int, Text } from '../../common/validation/fields.js';

const MAX_REASON = 500;

/** Body of POST /admin/providers/{provider}/pause and …/{route}/pause. */
export class RoutePauseBody {
  @Text({
    max: MAX_REASON,
    description: 'Why, for other operators',
    example: 'their status page says that they fail',
  })
  reason!: string;

  @Int({
    min: 0,
    max: MAX_EPOCH_SECONDS,
    optional: true,
    description: 'Epoch seconds at which it ends, at most 30 days ahead. Absent: in an hour',
    example: 1_800_000_000,
  })
  expires_at?: number;
}
