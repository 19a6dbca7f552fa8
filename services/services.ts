/** Every service of the system, in the order in which they start. */
import { documents } from './documents/service.ts';
import { exporting } from './export/service.ts';
import { identity } from './identity/service.ts';
import { sharing } from './sharing/service.ts';
import { webhookDelivery } from './webhook-delivery/service.ts';

export const services = [identity, documents, sharing, exporting, webhookDelivery] as const;
