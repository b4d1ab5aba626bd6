-- SPDX-License-Identifier: BSD-3-Clause
when("CLIENT_ACCEPTED", function (flow)
	log.info("from " .. flow.client.address)
end)
