/** The caller's organization: its name, slug and settings. */
import { newId, Unauthenticated } from '#libs/contract';
import { handle } from '#libs/http';
import type { Store } from '#libs/store';
import {
  createOrganization,
  getOrganization,
  OrganizationUpdated,
  reservedSlugError,
  updateOrganization,
} from '../contract.ts';
import { toOrganization } from '../presenters.ts';
import { toOrganizationChange } from '../rules/organization-change.ts';
import { getPlanTerms, type PlanLimits, type PlanName } from '../rules/plans.ts';
import { isReserved, toSlug } from '../rules/slug.ts';
import type { OrganizationRepository } from '../store/organizations.ts';

/** What the operations on organizations need. */
export interface OrganizationOptions {
  store: Pick<Store, 'respond'>;
  organizations: OrganizationRepository;
  defaultPlan: PlanName;
  planLimits: PlanLimits;
  now: () => Date;
}

/** Handlers of the operations on organizations, for members and for the operator. */
export function organizationHandlers({
  store,
  organizations,
  defaultPlan,
  planLimits,
  now,
}: OrganizationOptions) {
  const handlers = [
    handle(getOrganization, async ({ actor }) => {
      const row = await organizations.get(actor);
      if (!row) throw Unauthenticated();
      return toOrganization(row);
    }),

    handle(updateOrganization, async ({ actor, body, call }) => {
      const { settings = {}, ...fields } = body;
      call.audit({
        changed: [...Object.keys(fields), ...Object.keys(settings).map((key) => `settings.${key}`)],
      });
      if (body.slug !== undefined && isReserved(body.slug)) throw reservedSlugError('body/slug');
      const row = await organizations.update(actor, body, (before, after, tx) => {
        const change = toOrganizationChange(toOrganization(before), toOrganization(after));
        if (change.changed.length > 0) tx.publish(OrganizationUpdated, change);
      });
      if (!row) throw Unauthenticated();
      return toOrganization(row);
    }),
  ];

  const adminHandlers = [
    handle(createOrganization, async ({ actor, body, call }) => {
      const slug = body.slug ?? toSlug(body.name);
      if (isReserved(slug)) throw reservedSlugError('body/slug');
      const terms = { plan: defaultPlan, ...getPlanTerms(defaultPlan, planLimits) };
      return store.respond(actor, async (within) => {
        const row = await organizations.create(within, {
          ...{ id: newId(), name: body.name, slug },
          ...terms,
          at: now(),
        });
        call.audit({ organization_id: row._id });
        return toOrganization(row);
      });
    }),
  ];

  return { handlers, adminHandlers };
}
