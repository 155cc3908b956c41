import { filterId } from '../common/ids/id-params.js';
import { MAX_ID_CHARS } from '../common/ids/public-id.js';
import { PageQuery } from '../common/paging/page.query.js';
import { Enum, Text } from '../common/validation/fields.js';
import type { DeliveryStatus } from './delivery.js';
import { DELIVERED_TYPES, type DeliveredType } from './endpoints/event-type.js';
import type { DeliveryFilter } from './webhook-deliveries.js';

const optional = { optional: true } as const;

/** Query of GET /v1/webhook-deliveries. */
export class OwnDeliveriesQuery extends PageQuery {
  @Enum(['pending', 'delivered', 'failed'], {
    ...optional,
    description: 'Deliveries in one status',
  })
  status?: DeliveryStatus;

  @Enum(DELIVERED_TYPES, { ...optional, description: 'Deliveries of events of one type' })
  event?: DeliveredType;

  @Text({ max: MAX_ID_CHARS, ...optional, description: 'Deliveries to one endpoint, by its id' })
  endpoint_id?: string;
}

/** The filter with internal names. Throws 400 `invalid_request` for an `endpoint_id` that is no id of one. */
export function deliveryFilterOf({
  status,
  event,
  endpoint_id: id,
}: OwnDeliveriesQuery): DeliveryFilter {
  return { status, event, endpointId: filterId('whe', 'endpoint_id', id) };
}
