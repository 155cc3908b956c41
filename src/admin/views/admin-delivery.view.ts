import { ApiProperty } from '@nestjs/swagger';
import { pageOfViews } from '../../common/paging/page.view.js';
import { toPublicId } from '../../common/ids/public-id.js';
import type { Delivery } from '../../webhooks/delivery.js';
import { DeliveryView, viewDelivery } from '../../webhooks/delivery.view.js';

/** A webhook delivery as the operator sees it: of which account it is, too. */
export class AdminDeliveryView extends DeliveryView {
  @ApiProperty({
    example: 'acct_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'Account that is told',
  })
  account_id!: string;
}

/** A page of deliveries of all accounts. */
export class AdminDeliveryPage extends pageOfViews(AdminDeliveryView) {}

/** The delivery with its account. */
export function viewAdminDelivery(delivery: Delivery): AdminDeliveryView {
  return { ...viewDelivery(delivery), account_id: toPublicId('acct', delivery.accountId) };
}
