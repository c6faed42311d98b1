"""Which trials Harbor leaves out of its numbers, as it does since 0.26."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

# The errors after which, by Harbor's error policy, a reward says nothing of the agent.
_INVALIDATING = {
    "APIConnectionError",
    "APIError",
    "APIResponseValidationError",
    "AddTestsDirError",
    "AgentAuthenticationError",
    "AgentSetupTimeoutError",
    "ApiConnectionClosedError",
    "ApiConnectionError",
    "ApiError",
    "ApiInternalServerError",
    "ApiOverloadedError",
    "ApiProviderResourceNotFoundError",
    "ApiRateLimitError",
    "ApiResponseStalledError",
    "ApiUsageLimitError",
    "AuthenticationError",
    "BadRequestError",
    "BudgetExceededError",
    "CancelledError",
    "DownloadVerifierDirError",
    "DspyImportError",
    "EnvironmentStartTimeoutError",
    "GKEExecStreamClosedError",
    "GKEPodNotFoundError",
    "HealthcheckError",
    "InternalServerError",
    "MemoryLimitExceededError",
    "MissingExtraError",
    "ModelNotFoundError",
    "NetworkConnectionError",
    "NotFoundError",
    "PermissionDeniedError",
    "RateLimitError",
    "RegradeError",
    "RewardFileEmptyError",
    "RewardFileNotFoundError",
    "RuntimeRequestError",
    "SSHAccessError",
    "SandboxBuildFailedError",
    "SandboxLikelyOutOfMemoryError",
    "ServiceOperationsUnsupportedError",
    "ServiceUnavailableError",
    "Timeout",
    "UnknownApiError",
    "UnprocessableEntityError",
    "UnsupportedModelParametersError",
    "UnsupportedParamsError",
    "VercelScopeError",
    "VerifierOutputParseError",
    "VerifierTimeoutError",
}


def leaves_out(result: Mapping[str, Any]) -> bool | None:
    """Whether the Harbor that wrote a job's result.json leaves trials out; None without one.

    Since 0.26 the document has a `schema_version`. The version in lock.json is that of the Harbor
    which began the job: it stays where another resumes it and writes the numbers.
    """
    return "schema_version" in result if result else None


def is_left_out(
    rewards: Mapping[str, Any] | None, errors: Iterable[tuple[str, bool | None]]
) -> bool:
    """Whether a trial has no valid reward, by its rewards and its errors, as Harbor reads it.

    Each error is with what its own policy says of a reward after it: whether that is valid, None
    where it says nothing. What the trial says of itself as a whole, `reward_valid`, counts nowhere.
    """
    return not rewards or any(
        error in _INVALIDATING if valid is None else not valid for error, valid in errors
    )
