# another
